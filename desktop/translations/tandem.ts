<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" sourcelanguage="en">
<context>
    <name>Tandem</name>
    <message>
        <source>Generation speed: (tokens − 1) ÷ time from the prompt&apos;s end to the last token.</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speed-up against plain decoding: the time that plain passes would have taken, measured lately, ÷ generation time. “≈” until Compare has run both ways.</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Accepted: draft tokens that the target kept ÷ draft tokens that it checked.</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens per pass: tokens emitted ÷ passes of the target after the prompt. Plain decoding makes 1.</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where generation time goes: the draft proposing, the target verifying; the rest is Tandem itself.</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens in the target&apos;s context ÷ its size.</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Main memory that the engine holds and the system cannot take back ÷ memory of this machine. Weights mapped from the file are not counted: the system can drop them.</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Strict: drafts are checked in passes of up to {rows} tokens only. On this model file, engine and processor these were found to give the bits of one-token passes, so the text is plain decoding&apos;s.</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{rate:.1f} tok/s</source>
        <extracomment>desktop/figures.py, desktop/models/forecast.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{share:.0f} % accepted</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{rate:.1f} tokens/pass</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>= {ratio:.2f}×</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>≈ {ratio:.2f}×</source>
        <extracomment>desktop/figures.py, desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>draft {draft:.0f} % verify {verify:.0f} %</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>{count:,} tokens</source>
        <extracomment>desktop/figures.py; of one: “{count:,} token”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>last part: {figures}</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{thousands:.1f}k</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ctx {used}/{size}</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{size:.1f} GB</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{size} MB</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name}…</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name}: {share}</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name}: {share}, {speed:.1f} MB/s, {left} left</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{done:.0f} MB of {total:.0f} MB</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{done} of {total}</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{seconds} s</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{minutes} min</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{hours} h {minutes} min</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>days</source>
        <comment>how long something takes that ends nobody knows when</comment>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{used:.1f}/{total:.1f} GB</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped.</source>
        <extracomment>desktop/jobs.py, desktop/models/benchmark.py, desktop/models/engine.py, desktop/models/wishes.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tandem hit a fault of its own: {error!r}.</source>
        <extracomment>desktop/jobs.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine has ended; restart it.</source>
        <extracomment>desktop/jobs.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine&apos;s events broke off: {error!r}.</source>
        <extracomment>desktop/jobs.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model is loaded; choose one first.</source>
        <extracomment>desktop/jobs.py, desktop/models/benchmark.py, desktop/models/trial.py, desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>en</source>
        <comment>this language&apos;s own code, as in the name of its file</comment>
        <extracomment>desktop/language.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tandem has no translation “{wanted}”. Start it without --language, or with one of: {languages}.</source>
        <extracomment>desktop/languages.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{name}” could not be read: Tandem hit a fault of its own ({error!r}).</source>
        <extracomment>desktop/models/attaching.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>page {done:,} of {of:,}</source>
        <extracomment>desktop/models/attaching.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The disk is slow, or another program uses the chats. What you did is done as soon as it can be.</source>
        <extracomment>desktop/models/attempt.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waiting for the disk</source>
        <extracomment>desktop/models/attempt.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine stopped. Restart it, then measure again.</source>
        <extracomment>desktop/models/benchmark.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Other models were chosen meanwhile. Measure again when they are loaded.</source>
        <extracomment>desktop/models/benchmark.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pinned</source>
        <extracomment>desktop/models/chats.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Today</source>
        <extracomment>desktop/models/chats.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Yesterday</source>
        <extracomment>desktop/models/chats.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>MMMM yyyy</source>
        <comment>form of a date, in the letters that Qt has for it</comment>
        <extracomment>desktop/models/chats.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The latest {most} found</source>
        <extracomment>desktop/models/chats.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n found</source>
        <extracomment>desktop/models/chats.py</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing found</source>
        <extracomment>desktop/models/chats.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{title}: {text}</source>
        <extracomment>desktop/models/chats.py, desktop/views/cheat_sheet.py, desktop/widgets/chips.py, desktop/widgets/picker.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>dd MMMM yyyy, HH:mm</source>
        <comment>form of a date, in the letters that Qt has for it</comment>
        <extracomment>desktop/models/chats.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n other messages with these words</source>
        <extracomment>desktop/models/chats.py; of one: “%n other message with these words”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>the hub&apos;s cache</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Automatic · {draft}</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Auto · {draft}</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In use: {draft}</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download</source>
        <extracomment>desktop/models/choices.py, desktop/views/hub_detail.py, desktop/views/model_detail.py, desktop/widgets/transfer.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Incomplete.</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>On this machine</source>
        <extracomment>desktop/models/choices.py, desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From disk</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add a model file…</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A GGUF file on this machine</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cannot be used</source>
        <extracomment>desktop/models/choices.py, desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>To download</source>
        <extracomment>desktop/models/choices.py, desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All models</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Models…</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search, downloads, other programs&apos; models, space on the disk</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{ratio:.2f}× measured here</source>
        <extracomment>desktop/models/choices.py, desktop/views/managing.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try on my chats…</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How much each of these would help with replies like yours</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fits this model</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No draft model</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Other ways</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Automatic</source>
        <extracomment>desktop/models/choices.py, desktop/views/benchmark_words.py, desktop/views/settings/drafting.py, desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The best draft that fits, or text seen before: whichever pays</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt lookup</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drafts from text seen before in this conversation; takes no memory</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>None</source>
        <comment>no draft</comment>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Plain decoding</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Does not fit</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The draft model is not in use</source>
        <extracomment>desktop/models/wishes.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The download failed: {error!r}.</source>
        <extracomment>desktop/models/fetching.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>too large for this machine</source>
        <extracomment>desktop/models/forecast.py, desktop/models/outlook.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>larger than the free memory, ≈ {rate} here</source>
        <extracomment>desktop/models/forecast.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>≈ {rate} here</source>
        <extracomment>desktop/models/forecast.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>≈ {rate}, {best} with its draft here</source>
        <extracomment>desktop/models/forecast.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{rate:.0f} tok/s</source>
        <extracomment>desktop/models/forecast.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The search failed: {error!r}.</source>
        <extracomment>desktop/models/hub.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No rounds yet.</source>
        <extracomment>desktop/models/insight.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rounds {first} to {last} of {end}, drafting and the pass: {tokens} tokens in {took:,.0f} ms.</source>
        <extracomment>desktop/models/insight.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rounds {first} to {last} of {end}, drafting and the pass: {tokens} tokens in {took:,.0f} ms; plain decoding, above, makes {plain:.0f}, {each:.0f} ms each.</source>
        <extracomment>desktop/models/insight.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing was drafted in this reply.</source>
        <extracomment>desktop/models/insight.py, desktop/widgets/plots.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Acceptance {alpha:.2f} at {k} drafted a round: Eq. (1) expects {expected:.2f} tokens a pass; over all passes, those without a draft too, {came:.2f} came.</source>
        <extracomment>desktop/models/insight.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It took {took:.1f} ms a token.</source>
        <extracomment>desktop/models/insight.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Eq. (2) expects {expected:.1f} ms a token of such rounds; the reply took {took:.1f}.</source>
        <extracomment>desktop/models/insight.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Passes are measured when a model is loaded.</source>
        <extracomment>desktop/widgets/cost_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{tokens:.2f} tokens a pass; {flat:.2f}× if a pass cost the same whatever its length.</source>
        <extracomment>desktop/models/insight.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{tokens:.2f} tokens a pass; {flat:.2f}× if a pass cost the same whatever its length, {here:.2f}× with the passes of this machine.</source>
        <extracomment>desktop/models/insight.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} is too small: at least {bound}.</source>
        <extracomment>desktop/models/limits.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} is too small: more than {bound}.</source>
        <extracomment>desktop/models/limits.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} is too large: at most {bound}.</source>
        <extracomment>desktop/models/limits.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{number} is too large: less than {bound}.</source>
        <extracomment>desktop/models/limits.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{text}” is not a number.</source>
        <extracomment>desktop/models/limits.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{text} is not a whole number.</source>
        <extracomment>desktop/models/limits.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{text} cannot be used here.</source>
        <extracomment>desktop/models/limits.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>downloaded</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>added by you</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in a folder of yours</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in Tandem&apos;s models folder</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Downloads</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In other programs</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in use as target</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in use as draft</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This folder is not there</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folders of yours</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>On the model hub</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Look for “{words}” on the hub</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Asks huggingface.co</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing was found</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Other words may help; names of models do best</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paused at {share}</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paused</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waits for the other download</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped: {why}</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stopped</source>
        <extracomment>desktop/models/model_rows.py, desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checking…</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Downloading…</source>
        <extracomment>desktop/models/model_rows.py, desktop/widgets/transfer.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checking {percent:.0f} %</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Downloading {percent:.0f} %</source>
        <extracomment>desktop/models/model_rows.py, desktop/widgets/transfer.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>size not known</source>
        <extracomment>desktop/models/model_rows.py, desktop/views/hub_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>draft</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{billions:.1f} billion parameters</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>{count:,} downloads</source>
        <extracomment>desktop/models/model_rows.py; of one: “{count:,} download”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>licence to be accepted</source>
        <extracomment>desktop/models/model_rows.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>does not fit: {reason}, {speed} here</source>
        <extracomment>desktop/models/outlook.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>does not fit: {reason}</source>
        <extracomment>desktop/models/outlook.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{speed} here</source>
        <extracomment>desktop/models/outlook.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>≈ {rate}</source>
        <extracomment>desktop/models/outlook.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>larger than the free memory</source>
        <extracomment>desktop/models/outlook.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>files of {size} with the target</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>≈ {memory} in memory with the target: {reason}</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>≈ {memory} in memory with the target</source>
        <extracomment>desktop/models/choices.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Recommended</source>
        <extracomment>desktop/models/choices.py, desktop/views/managing.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no token to test.</source>
        <extracomment>desktop/models/hub.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The token works: it is of the account {account}.</source>
        <extracomment>desktop/models/hub.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>begun by {first}, continued by {others}</source>
        <extracomment>desktop/models/parts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>edited, begun by {first}, continued by {others}</source>
        <extracomment>desktop/models/parts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>edited, continued</source>
        <extracomment>desktop/models/parts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>continued</source>
        <comment>a reply that had been stopped</comment>
        <extracomment>desktop/models/parts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>edited</source>
        <comment>a reply</comment>
        <extracomment>desktop/models/parts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{some} and {one}</source>
        <extracomment>desktop/models/parts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The library failed: {error!r}.</source>
        <extracomment>desktop/models/shelf.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New chat</source>
        <extracomment>desktop/models/titles.py, desktop/shortcuts.py, desktop/store/shapes.py, desktop/views/sidebar.py, desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No draft model that fits this target is here. The draft list offers some to download.</source>
        <extracomment>desktop/models/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine stopped. Restart it, then try again.</source>
        <extracomment>desktop/models/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The models are being exchanged. Try again when that is done.</source>
        <extracomment>desktop/models/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It was not saved: {error!r}.</source>
        <extracomment>desktop/models/unsaved.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Greedy</source>
        <extracomment>desktop/presets.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Balanced</source>
        <extracomment>desktop/presets.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Creative</source>
        <extracomment>desktop/presets.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Always the likeliest token, and no other part of the chain is on: the same text every time.</source>
        <extracomment>desktop/presets.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From the Qwen3 model card, for answers without thinking; Qwen2.5&apos;s configuration has the same three.</source>
        <extracomment>desktop/presets.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From Gemma 3&apos;s published generation configuration: the model&apos;s own odds, rare words left out.</source>
        <extracomment>desktop/presets.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What you choose holds until Tandem ends.</source>
        <extracomment>desktop/settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The settings are not saved</source>
        <extracomment>desktop/settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The settings in {path} could not be read ({error}), so defaults are used.</source>
        <extracomment>desktop/settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{path} holds no settings, so defaults are used.</source>
        <extracomment>desktop/settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{name}”</source>
        <extracomment>desktop/settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In the settings in {path} {names} could not be used, so defaults are used instead.</source>
        <extracomment>desktop/settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The old file is kept as {name}.</source>
        <extracomment>desktop/settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The file could not be put aside ({error}), so changes are not saved.</source>
        <extracomment>desktop/settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chats</source>
        <extracomment>desktop/shortcuts.py, desktop/views/settings/data.py, desktop/views/sidebar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Writing</source>
        <extracomment>desktop/shortcuts.py, desktop/views/settings/dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Replies</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speculation</source>
        <extracomment>desktop/shortcuts.py, desktop/views/panel.py, desktop/views/top_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Window</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search chats</source>
        <extracomment>desktop/shortcuts.py, desktop/views/sidebar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rename chat</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pin or unpin chat</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete chat</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Undo delete</source>
        <extracomment>desktop/shortcuts.py, desktop/widgets/named_row.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat settings</source>
        <extracomment>desktop/shortcuts.py, desktop/views/chat_settings.py, desktop/views/top_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go to the message box</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attach files</source>
        <extracomment>desktop/shortcuts.py, desktop/views/attachments.py, desktop/widgets/composer.py, desktop/widgets/writing.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Edit the last message</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop the reply</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Regenerate the last reply</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Continue the last reply</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy the last reply</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compare the last reply</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show where tokens came from</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speculation on or off</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Measure this pair</source>
        <extracomment>desktop/shortcuts.py, desktop/views/benchmark.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show or hide the speculation panel</source>
        <extracomment>desktop/shortcuts.py, desktop/widgets/status_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show or hide the chats</source>
        <extracomment>desktop/shortcuts.py, desktop/views/top_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Models</source>
        <extracomment>desktop/shortcuts.py, desktop/views/models_window.py, desktop/views/settings/data.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Zoom in</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Zoom out</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Zoom back to 100 %</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Settings</source>
        <extracomment>desktop/shortcuts.py, desktop/views/settings/data.py, desktop/views/settings/dialog.py, desktop/views/sidebar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <extracomment>desktop/shortcuts.py, desktop/views/cheat_sheet.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Quit</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Enter</source>
        <extracomment>desktop/shortcuts.py, desktop/widgets/rewrite.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ctrl+Enter</source>
        <extracomment>desktop/shortcuts.py, desktop/widgets/rewrite.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Send the message</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Shift+Enter</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New line</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete</source>
        <comment>the key</comment>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove an attachment</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save an edited reply</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Up, Down</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Move between messages</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ctrl+wheel</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Zoom in or out</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tandem is open already, or still closing, and does not answer. Wait a little and start it again.</source>
        <extracomment>desktop/start.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model was loaded by itself. Your chats are all here.</source>
        <extracomment>desktop/start.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tandem did not end properly last time</source>
        <extracomment>desktop/start.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Some settings could not be read</source>
        <extracomment>desktop/start.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The log folder cannot be used.</source>
        <extracomment>desktop/start.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What you wrote is safe; the log has the details.</source>
        <extracomment>desktop/start.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading target {percent:.0f} %</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading draft {percent:.0f} %</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checking the pair {percent:.0f} %</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the layers that stay in memory {percent:.0f} %</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Finding which passes are exact {percent:.0f} %</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Measuring this machine {percent:.0f} %</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Engine stopped</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Starting engine…</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waiting for the reply…</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading…</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading prompt {done:,}/{total:,}</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waiting for a model</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the prompt</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>texts exact</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>only one-token passes are exact</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Writing plain: speculation is off</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Writing plain: {why}</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drafting and verifying</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Writing</source>
        <comment>a reply is being written</comment>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model loaded</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ready, speculation is off</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ready, plain: {why}</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ready, no draft model</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ready</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ready. The last reply was written with drafts</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ready. The last reply was written plain</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ready. The last reply was written plain ({why})</source>
        <extracomment>desktop/status.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} could not be read: it is a device or a pipe. Choose a file.</source>
        <extracomment>desktop/store/exchange.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} could not be read ({error}).</source>
        <extracomment>desktop/store/exchange.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} is no file of chats: it holds numbers or depths that no chat has.</source>
        <extracomment>desktop/store/exchange.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} was written by another version of Tandem. Update Tandem.</source>
        <extracomment>desktop/store/exchange.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} is damaged: in chat {number} message {message} answers none before it, or is double.</source>
        <extracomment>desktop/store/exchange.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chats in {path} were written by a newer version of Tandem (format {version}, this one reads up to {known}). Nothing was changed. Update Tandem, or set TANDEM_HOME to another folder.</source>
        <extracomment>desktop/store/schema.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chats in {path} could not be read ({error}). Try again; if it stays so, look at the disk.</source>
        <extracomment>desktop/store/writer.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chats in {path} are in use by another program. Close it and try again.</source>
        <extracomment>desktop/store/writer.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is no room to save chats in {folder}. Free some space; what is on screen is kept.</source>
        <extracomment>desktop/store/writer.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chats cannot be saved in {folder}: the folder cannot be written. Change its permissions, or set TANDEM_HOME to another folder.</source>
        <extracomment>desktop/store/writer.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chats could not be saved in {path}: {error}. Try again; the log has the details.</source>
        <extracomment>desktop/store/writer.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tandem is ending: the chats are closed already.</source>
        <extracomment>desktop/store/writer.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export all chats…</source>
        <extracomment>desktop/views/actions.py, desktop/views/settings/dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Import chats…</source>
        <extracomment>desktop/views/actions.py, desktop/views/settings/dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Restart engine</source>
        <extracomment>desktop/views/actions.py, desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open log folder</source>
        <extracomment>desktop/views/actions.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Zoom {zoom} %</source>
        <extracomment>desktop/views/applied.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All files (*)</source>
        <extracomment>desktop/views/attachments.py, desktop/views/benchmarking.py, desktop/views/exchange.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>That is too many files</source>
        <extracomment>desktop/views/attachments.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>The pasted text is long ({length} characters)</source>
        <extracomment>desktop/views/attachments.py; of one: “The pasted text is long ({length} character)”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>As an attachment it stays out of the way and is read with the message.</source>
        <extracomment>desktop/views/attachments.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It is too long for the message itself, but may be attached to it.</source>
        <extracomment>desktop/views/attachments.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This cannot be attached</source>
        <extracomment>desktop/views/attachments.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{name}” is attached</source>
        <extracomment>desktop/views/attachments.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>And {more} more.</source>
        <extracomment>desktop/views/attachments.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Some files cannot be attached</source>
        <extracomment>desktop/views/attachments.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{names}: another chat was opened before that was read. Attach it again.</source>
        <extracomment>desktop/views/attachments.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not everything was attached</source>
        <extracomment>desktop/views/attachments.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A message takes {most} files.</source>
        <extracomment>desktop/views/attachments.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>A message takes {most} files. The first %n were taken.</source>
        <extracomment>desktop/views/attachments.py; of one: “A message takes {most} files. The first one was taken.”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Progress</source>
        <extracomment>desktop/views/benchmark.py, desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Report</source>
        <comment>a noun</comment>
        <extracomment>desktop/views/benchmark.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Measure</source>
        <extracomment>desktop/views/benchmark.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Stop</source>
        <extracomment>desktop/views/benchmark.py, desktop/widgets/composer.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Measure again…</source>
        <extracomment>desktop/views/benchmark.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close</source>
        <extracomment>desktop/views/about.py, desktop/views/benchmark.py, desktop/views/cheat_sheet.py, desktop/views/models_window.py, desktop/views/refusal.py, desktop/views/settings/dialog.py, desktop/views/token_dialog.py, desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{percent:.0f} %</source>
        <extracomment>desktop/figures.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In this order: draft {draft}, target {verify}, host {host}.</source>
        <extracomment>desktop/models/insight.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy as text</source>
        <extracomment>desktop/views/benchmark.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save…</source>
        <extracomment>desktop/views/benchmark.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All ways in turn, with the same prompts, on this machine.</source>
        <extracomment>desktop/views/benchmark.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How much faster is this pair here?</source>
        <extracomment>desktop/views/benchmark.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A reply, a comparison or a model is on its way; this comes after it.</source>
        <extracomment>desktop/views/benchmark.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waiting for the engine</source>
        <extracomment>desktop/views/benchmark.py, desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Each way writes a few tokens that do not count. Messages wait until the end.</source>
        <extracomment>desktop/views/benchmark.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Warming up</source>
        <extracomment>desktop/views/benchmark.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Three built-in ones: refactor, explain, tell a story</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>My questions in this chat</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A file</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This chat has no question yet; choose other prompts.</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a JSON Lines file: one {&quot;id&quot;: …, &quot;category&quot;: …, &quot;prompt&quot;: …} a line.</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading the file…</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Messages that you send meanwhile are answered afterwards; let the machine do nothing else.</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt file</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Browse…</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Automatic: any source, the length chosen round by round</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Always so many drafted:</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft tokens a round</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Plain once more, which states the noise</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens a reply, at most</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Repeats</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>My questions in this chat ({questions})</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Plain: the target alone, what the others are compared with</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompts</source>
        <extracomment>desktop/views/benchmark_options.py, desktop/views/benchmark_words.py, desktop/views/benchmarking.py, desktop/views/settings/dialog.py, desktop/widgets/prompt_edit.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ways</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens a reply</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>{prompts} prompts</source>
        <extracomment>desktop/views/benchmark_options.py; of one: “{prompts} prompt”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{replies} replies</source>
        <extracomment>desktop/views/benchmark_options.py; of one: “{replies} reply”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>{prompts}, {replies}. How long they take is known once the first is measured.</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{prompts}, {replies}: about {time} by what passes cost here, less where replies end early.</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>From {low} to {high}.</source>
        <extracomment>desktop/views/benchmark_options.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Their category.</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Way</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How replies were decoded.</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tok/s</source>
        <extracomment>desktop/views/benchmark_words.py, desktop/widgets/plots.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Generation: (tokens - 1) ÷ time from the prompt&apos;s end to the last token.</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Generation</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How many times as fast as plain, by milliseconds a token; with the 95 % interval over prompts.</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Whole request</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The same of the whole time, reading the prompt included.</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Accepted</source>
        <extracomment>desktop/views/benchmark_words.py, desktop/views/trial.py, desktop/widgets/status_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft tokens that the target kept ÷ draft tokens that it checked.</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens/pass</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens ÷ passes of the target after the prompt. Plain decoding makes 1.</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Same text</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Replies with plain&apos;s text, token by token.</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Lead</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where texts differ: the largest lead of a token over its second best at the first difference. Small is a near-tie, which passes of different sizes round differently.</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Plain</source>
        <extracomment>desktop/views/benchmark_words.py, desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>plain</source>
        <extracomment>desktop/views/benchmark_words.py, desktop/widgets/origins.py, desktop/widgets/plots.py, desktop/widgets/round_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>automatic</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{length} drafted</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{way} again</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All</source>
        <comment>prompts</comment>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{value}× ({low} to {high})</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reply {at} of {of}</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reply {at} of {of}, about {time} left</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt {at} of {prompts} ({name}), {way}. Messages wait until the end.</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt {at} of {prompts} ({name}), {way}, repeat {repeat} of {repeats}. Messages wait until the end.</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>{done} replies measured.</source>
        <extracomment>desktop/views/benchmark_words.py; of one: “{done} reply measured.”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Stopped before the first reply was measured.</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Stopped after {done} of {of} replies.</source>
        <extracomment>desktop/views/benchmark_words.py; of one: “Stopped after {done} of {of} reply.”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>It ended before the first reply was measured.</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>It ended after {done} of {of} replies.</source>
        <extracomment>desktop/views/benchmark_words.py; of one: “It ended after {done} of {of} reply.”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Where texts leave plain&apos;s, and the lead of either token over its second best there:</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{way}, {prompt}, repeat {repeat}, token {token}: {margins}</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>… and {more} more in the saved report.</source>
        <extracomment>desktop/views/benchmark_words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A page with plots ({files})</source>
        <extracomment>desktop/views/benchmarking.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All figures ({files})</source>
        <extracomment>desktop/views/benchmarking.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save the report</source>
        <extracomment>desktop/views/benchmarking.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saving…</source>
        <extracomment>desktop/views/benchmarking.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saved to {path}.</source>
        <extracomment>desktop/views/benchmarking.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>JSON Lines ({files})</source>
        <extracomment>desktop/views/benchmarking.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copied.</source>
        <extracomment>desktop/views/benchmarking.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tandem hit a fault of its own: {fault}. The log has the details.</source>
        <extracomment>desktop/views/benchmarking.py, desktop/views/exchange.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{path} is a device or a pipe; choose a file.</source>
        <extracomment>desktop/views/benchmarking.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{title}” was deleted.</source>
        <extracomment>desktop/views/chat_changes.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Reading the prompt, {done} of {total} tokens</source>
        <extracomment>desktop/views/chat_page.py; of one: “Reading the prompt, {done} of {total} token”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>As the model prefers</source>
        <extracomment>desktop/views/chat_settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>On</source>
        <extracomment>desktop/views/chat_settings.py, desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Off</source>
        <extracomment>desktop/views/chat_settings.py, desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>These count from the next message. What is left empty follows the preset, also when that is changed later; what you enter is this chat&apos;s own.</source>
        <extracomment>desktop/views/chat_settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>System prompt</source>
        <extracomment>desktop/views/chat_settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the model should always keep in mind in this chat.</source>
        <extracomment>desktop/views/chat_settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Preset</source>
        <extracomment>desktop/views/chat_settings.py, desktop/views/settings/presets.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Default: a fresh one for every reply.</source>
        <extracomment>desktop/views/chat_settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A fresh one</source>
        <extracomment>desktop/views/chat_settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Default: no limit but the context&apos;s.</source>
        <extracomment>desktop/views/chat_settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No limit</source>
        <extracomment>desktop/views/chat_settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Longest reply (tokens)</source>
        <extracomment>desktop/views/chat_settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Thinking</source>
        <extracomment>desktop/views/chat_settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Whether the model thinks before it answers.</source>
        <extracomment>desktop/views/chat_settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The preset has {value}.</source>
        <extracomment>desktop/views/chat_settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The publisher&apos;s values</source>
        <extracomment>desktop/views/chat_settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As the model: {preset}</source>
        <extracomment>desktop/views/chat_settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The publisher&apos;s values (not known)</source>
        <extracomment>desktop/views/chat_settings.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chats can be read, but not saved</source>
        <extracomment>desktop/views/chats_found.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>When Tandem starts next, what can be read of them is saved in a new file; the damaged one is kept. Until then chats or parts of them may be missing.</source>
        <extracomment>desktop/views/chats_found.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chats on the disk are damaged</source>
        <extracomment>desktop/views/chats_found.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Find a shortcut</source>
        <extracomment>desktop/views/cheat_sheet.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No shortcut is called that.</source>
        <extracomment>desktop/views/cheat_sheet.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{one} or {other}</source>
        <extracomment>desktop/views/cheat_sheet.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>With speculation</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Back to the chat</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The same prompt under the same seed, with and without speculation, on this machine.</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Comparing…</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading prompt {done}/{total}</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not finished</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{side}: progress</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{side}: text</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waiting</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>First difference: {before}, then {token}</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the end</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>{tokens} tokens</source>
        <extracomment>desktop/views/compare.py; of one: “{tokens} token”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Too short to measure a speed</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{ratio}× faster with speculation</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{ratio}× slower with speculation</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>About equally fast ({ratio}×)</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No speed measured</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{speed}, texts identical</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{speed}, texts differ</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Whole request, prompt included: {ratio}×.</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Seed {seed}.</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>First difference at token {token}: “{plain}” plain, “{other}” with speculation (lead over the runner-up: {plain_lead} plain, {other_lead} with speculation).</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The two ran one after the other, not interleaved: other load on the machine may count.</source>
        <extracomment>desktop/views/compare.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The reply was written by {writer}, this runs on {other}: the reply keeps its figures.</source>
        <extracomment>desktop/views/comparing.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>(the text ends)</source>
        <extracomment>desktop/views/difference.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download</source>
        <comment>a noun</comment>
        <extracomment>desktop/views/downloads.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Markdown, to be read ({files})</source>
        <extracomment>desktop/views/exchange.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tandem&apos;s chats, with everything ({files})</source>
        <extracomment>desktop/views/exchange.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export chat</source>
        <extracomment>desktop/views/exchange.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export all chats</source>
        <extracomment>desktop/views/exchange.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Import chats</source>
        <extracomment>desktop/views/exchange.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Exported to {path}.</source>
        <extracomment>desktop/views/exchange.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The export failed</source>
        <extracomment>desktop/views/exchange.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing was imported</source>
        <extracomment>desktop/views/exchange.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n chats were imported.</source>
        <extracomment>desktop/views/exchange.py; of one: “%n chat was imported.”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Quantisations</source>
        <extracomment>desktop/views/hub_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Asking the hub what it holds…</source>
        <extracomment>desktop/views/hub_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Licence: {licence}.</source>
        <extracomment>desktop/views/hub_detail.py, desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its publisher asks to accept the licence first, on its page.</source>
        <extracomment>desktop/views/hub_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Whether a draft fits is seen when it is here.</source>
        <extracomment>desktop/views/hub_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n files</source>
        <extracomment>desktop/views/hub_detail.py; of one: “%n file”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>fits this machine</source>
        <extracomment>desktop/views/hub_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>in your list already</source>
        <extracomment>desktop/views/hub_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Looking for “{words}” on the hub…</source>
        <extracomment>desktop/views/hub_side.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Look for “{words}” again</source>
        <extracomment>desktop/views/hub_side.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>You</source>
        <extracomment>desktop/views/main_window.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Assistant</source>
        <extracomment>desktop/views/main_window.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{chat} – Tandem</source>
        <extracomment>desktop/views/main_window.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{problem} Close Tandem again to leave without what is not saved.</source>
        <extracomment>desktop/views/main_window.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A reply is not saved yet</source>
        <extracomment>desktop/views/main_window.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model fits</source>
        <extracomment>desktop/views/managing.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Does not fit: {reason}</source>
        <extracomment>desktop/views/managing.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Some publishers give a model only to people who accepted its licence on its page. The token shows the hub that you are one of them. Make one that may read, at {page}. It is sent to the hub alone, only for such models and to test it.</source>
        <extracomment>desktop/views/token_dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{target} writes, {draft} drafts.</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Together {size} to download.</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>They run on this machine only.</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fits</source>
        <extracomment>desktop/views/managing.py, desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fits, to download</source>
        <extracomment>desktop/views/managing.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{model}: {problem}.</source>
        <extracomment>desktop/views/managing.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete a model</source>
        <extracomment>desktop/views/managing.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete {model}?</source>
        <extracomment>desktop/views/managing.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{size} are freed. It can be downloaded again.</source>
        <extracomment>desktop/views/managing.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete</source>
        <extracomment>desktop/views/managing.py, desktop/views/sidebar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Model files (*.gguf);;All files (*)</source>
        <extracomment>desktop/views/managing.py, desktop/views/model_choice.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add a model file</source>
        <extracomment>desktop/views/managing.py, desktop/views/model_choice.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Look for models in a folder</source>
        <extracomment>desktop/views/managing.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{model} was deleted; {size} are free.</source>
        <extracomment>desktop/views/managing.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Licence</source>
        <extracomment>desktop/views/about.py, desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>pass over {n}</source>
        <extracomment>desktop/models/insight.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>draft step</source>
        <extracomment>desktop/models/insight.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>a name is needed.</source>
        <extracomment>desktop/models/named.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the name is too long: at most {most} letters.</source>
        <extracomment>desktop/models/named.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>another one is called that.</source>
        <extracomment>desktop/models/named.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Earlier version of the message</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Later version of the message</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go to the next part of the window</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>About Tandem</source>
        <extracomment>desktop/shortcuts.py, desktop/views/about.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ctrl+1 to 9</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open one of the first nine chats</source>
        <extracomment>desktop/shortcuts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>see its package</source>
        <extracomment>desktop/views/about.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tandem {version}</source>
        <extracomment>desktop/views/about.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Chat with models on this machine, sooner with a draft beside them. Free under the Apache 2.0 licence.</source>
        <extracomment>desktop/views/about.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The libraries it stands on, and their licences:</source>
        <extracomment>desktop/views/about.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Library</source>
        <extracomment>desktop/views/about.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Version</source>
        <extracomment>desktop/views/about.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Libraries and their licences</source>
        <extracomment>desktop/views/about.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Size</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Memory</source>
        <extracomment>desktop/views/model_detail.py, desktop/widgets/status_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speed</source>
        <extracomment>desktop/views/model_detail.py, desktop/widgets/plots.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In use as target</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In use as draft</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download progress</source>
        <extracomment>desktop/views/model_detail.py, desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use this model</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause</source>
        <extracomment>desktop/views/model_detail.py, desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel download</source>
        <extracomment>desktop/views/model_detail.py, desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete…</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Forget</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drafts for this model</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This folder is not there: a drive may be out, or it was moved. Put it back, or forget it.</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Forget this folder</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>{size}, in %n files</source>
        <extracomment>desktop/views/model_detail.py; of one: “{size}, in %n file”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Yes, in the memory that is free</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No: {reason}</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{speed} here, estimated</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{place}: {path}</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Checking</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Downloading</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go on</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{size} to download</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It is loaded; choose another model first</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Forget its folder</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The file stays where it is</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{fact}: {value}</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>More than {size}, estimated</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{size}, estimated: {weights} weights, {caches} caches, {buffers} buffers</source>
        <extracomment>desktop/views/model_detail.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No model is loaded</source>
        <extracomment>desktop/views/modelless.py, desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose one; your message is kept, and answered when it is loaded. Esc gives it up.</source>
        <extracomment>desktop/views/modelless.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Search models</source>
        <extracomment>desktop/views/models_window.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only what fits this machine</source>
        <extracomment>desktop/views/models_window.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only models that find room in the memory that is free</source>
        <extracomment>desktop/views/models_window.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Fits this machine</source>
        <extracomment>desktop/views/models_window.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add a file…</source>
        <extracomment>desktop/views/models_window.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Add a folder…</source>
        <extracomment>desktop/views/models_window.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Token…</source>
        <extracomment>desktop/views/models_window.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The prompt&apos;s own token: it came with reading the prompt, without a pass of its own.</source>
        <extracomment>desktop/views/origins.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This round is not kept: of very long replies only the last rounds are.</source>
        <extracomment>desktop/views/origins.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Nothing is known of this round: the engine did not tell, or what was kept of it is damaged.</source>
        <extracomment>desktop/views/origins.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What speculation is doing, and why, stands here while a reply is written.</source>
        <extracomment>desktop/views/panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Measure this pair…</source>
        <extracomment>desktop/views/panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Plain and speculation in turn on several prompts ({keys})</source>
        <extracomment>desktop/views/panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No reply yet.</source>
        <extracomment>desktop/views/panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{rate:.1f} tok/s over the last part of the reply.</source>
        <extracomment>desktop/views/panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{rate:.1f} tok/s over the whole reply.</source>
        <extracomment>desktop/views/panel.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tandem cannot start</source>
        <extracomment>desktop/views/refusal.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chats on the disk are damaged. What can be read of them is being saved in a new file.</source>
        <extracomment>desktop/views/salvaging.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saving chats</source>
        <extracomment>desktop/views/salvaging.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The damaged file is kept as {name}.</source>
        <extracomment>desktop/views/salvaging.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No chat could be read, so the list is empty.</source>
        <extracomment>desktop/views/salvaging.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>%n messages were saved.</source>
        <extracomment>desktop/views/salvaging.py; of one: “%n message was saved.”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>{chats} of {known} chats and %n messages were saved.</source>
        <extracomment>desktop/views/salvaging.py; of one: “{chats} of {known} chats and %n message were saved.”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Parts of %n chats are missing.</source>
        <extracomment>desktop/views/salvaging.py; of one: “Parts of %n chat are missing.”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>The chats on the disk were damaged</source>
        <extracomment>desktop/views/salvaging.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Counting tokens…</source>
        <extracomment>desktop/views/sending.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This does not fit into the context</source>
        <extracomment>desktop/views/sending.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Without attachments the prompt has {tokens:,} tokens, and there is no room for more.</source>
        <extracomment>desktop/views/sending.py; of one: “Without attachments the prompt has {tokens:,} token, and there is no room for more.”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>What fits: {parts}.</source>
        <extracomment>desktop/views/sending.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>The message makes a prompt of {tokens:,} tokens.</source>
        <extracomment>desktop/views/sending.py; of one: “The message makes a prompt of {tokens:,} token.”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The context holds {size:,}, of which {reply:,} are left for the reply.</source>
        <extracomment>desktop/views/sending.py; of one: “The context holds {size:,}, of which {reply:,} is left for the reply.”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>all of {name}</source>
        <extracomment>desktop/views/sending.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>of {name} {part}</source>
        <extracomment>desktop/views/sending.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>nothing of {name}</source>
        <extracomment>desktop/views/sending.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As the system</source>
        <extracomment>desktop/views/settings/appearance.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Light</source>
        <extracomment>desktop/views/settings/appearance.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Dark</source>
        <extracomment>desktop/views/settings/appearance.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Theme</source>
        <extracomment>desktop/views/settings/appearance.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Colours of the window. Default: as the system.</source>
        <extracomment>desktop/views/settings/appearance.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All text, in percent of the system&apos;s. Default: 100&#xa0;%.</source>
        <extracomment>desktop/views/settings/appearance.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text size</source>
        <extracomment>desktop/views/settings/appearance.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Messages and the message box, on top of that; also {larger}, {smaller} and {usual}. Default: 100&#xa0;%.</source>
        <extracomment>desktop/views/settings/appearance.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Zoom</source>
        <extracomment>desktop/views/settings/appearance.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{percent} %</source>
        <extracomment>desktop/views/settings/appearance.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tandem&apos;s folders are moved with the environment variables TANDEM_HOME and, for models, TANDEM_MODELS_DIR, set before it starts. Nothing is moved by itself: take what lies in the old folder along.</source>
        <extracomment>desktop/views/settings/data.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folders</source>
        <extracomment>desktop/views/settings/data.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folder of chats</source>
        <extracomment>desktop/views/settings/data.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open the folder of chats</source>
        <extracomment>desktop/views/settings/data.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folder of settings</source>
        <extracomment>desktop/views/settings/data.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open the folder of settings</source>
        <extracomment>desktop/views/settings/data.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folder of models</source>
        <extracomment>desktop/views/settings/data.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open the folder of models</source>
        <extracomment>desktop/views/settings/data.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hub&apos;s own cache</source>
        <extracomment>desktop/views/settings/data.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folder of the hub&apos;s own cache</source>
        <extracomment>desktop/views/settings/data.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open the folder of the hub&apos;s own cache</source>
        <extracomment>desktop/views/settings/data.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Logs</source>
        <extracomment>desktop/views/settings/data.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Folder of logs</source>
        <extracomment>desktop/views/settings/data.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open the folder of logs</source>
        <extracomment>desktop/views/settings/data.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open</source>
        <extracomment>desktop/views/settings/data.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This folder is not there yet: it is made when something is put into it.</source>
        <extracomment>desktop/views/settings/data.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The system has no program that shows folders. The path can be selected and copied.</source>
        <extracomment>desktop/views/settings/data.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Engine</source>
        <extracomment>desktop/views/settings/dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Appearance</source>
        <extracomment>desktop/views/settings/dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Presets</source>
        <extracomment>desktop/views/settings/dialog.py, desktop/views/settings/presets.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Data</source>
        <extracomment>desktop/views/settings/dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not applied yet</source>
        <extracomment>desktop/views/settings/dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What you chose for loading is not applied yet.</source>
        <extracomment>desktop/views/settings/dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Applied, it counts from the next load on.</source>
        <extracomment>desktop/views/settings/dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Discard</source>
        <extracomment>desktop/views/settings/dialog.py, desktop/views/settings/engine.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go back</source>
        <extracomment>desktop/views/settings/dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only the draft model</source>
        <extracomment>desktop/views/settings/drafting.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text seen before, where it fits; else the model</source>
        <extracomment>desktop/views/settings/drafting.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Coupled: a seed keeps its text</source>
        <extracomment>desktop/views/settings/drafting.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rejection sampling</source>
        <extracomment>desktop/views/settings/drafting.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where drafts come from is chosen in the draft list at the top of the window, on or off by the switch beside it.</source>
        <extracomment>desktop/views/settings/drafting.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Both give the target&apos;s own law. Coupled, the same seed gives the same text with drafts and without, but for near-ties. Default: coupled.</source>
        <extracomment>desktop/views/settings/drafting.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Default: automatic, whatever pays by the costs measured on this machine.</source>
        <extracomment>desktop/views/settings/drafting.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drafting, in all chats</source>
        <extracomment>desktop/views/settings/drafting.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What else may propose. Default: only the draft model.</source>
        <extracomment>desktop/views/settings/drafting.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>With a chosen draft model</source>
        <extracomment>desktop/views/settings/drafting.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Acceptance rule</source>
        <extracomment>desktop/views/settings/drafting.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>These count at once, also in a reply that is being written.</source>
        <extracomment>desktop/views/settings/drafting.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Here: what holds for all chats, and for single models their context and layers. Each chat has its own system prompt, preset, values, seed, longest reply and thinking: in the chat settings.</source>
        <extracomment>desktop/views/settings/engine.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Apply and load again</source>
        <extracomment>desktop/views/settings/engine.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Apply</source>
        <extracomment>desktop/views/settings/engine.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not applied yet. It counts from the next time that a model is loaded.</source>
        <extracomment>desktop/views/settings/engine.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not applied yet. Applying loads {model} again; a reply that is being written ends first.</source>
        <extracomment>desktop/views/settings/engine.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>f16, usual</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>bf16</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>f32, twice as large</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>q8_0, about half as large</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>q4_0, about a quarter</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where they cost little</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Always</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Never</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As the system decides</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kept in memory</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Read into memory</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Read into memory and kept there</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Yes, where it is measured to pay</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>In which format what was read is remembered; smaller takes less memory and may change answers. Default: f16.</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The same of the draft: below f16 fewer of its tokens may be accepted. Default: f16.</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Another way of computing attention. Default: automatic, on a graphics card, with sliding windows and with quantised caches.</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Kept: never paged out, which the system must allow for that much. Read: not mapped from the file. Default: as the system decides.</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Texts equal plain decoding&apos;s to the bit. Whether that costs little is found out when a model is loaded for the first time, which then takes as long as a reply of a few hundred tokens. Always: also where drafts get so short that replies are slower. Default: where they cost little.</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A copy of the draft in a smaller number format is made once, while nothing is written, and kept on the disk. Its steps can be quicker and its guesses worse: both are measured first. Default: no.</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Every model</source>
        <extracomment>desktop/views/settings/loading.py, desktop/views/settings/preset_use.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{setting}: {problem}</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Default: one for each core, {cores} here.</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Default: one for each core.</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Default: as many as memory affords.</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Context and layers of</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading, of every model</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Exact texts</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KV cache, target</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>KV cache, draft</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Flash attention</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Weights</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cheaper draft copy</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As every: {value}</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Default: {context:,}, or less where a model knows less.</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Default: {context:,}, or less where a model knows less. {model} was trained on {trained:,}.</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Here the engine uses no graphics card, so it changes nothing.</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Default: as many as fit.</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Default: as many as fit. {model} has {layers}.</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not applied: {problem}</source>
        <extracomment>desktop/views/settings/loading.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Name</source>
        <extracomment>desktop/views/settings/named_editor.py, desktop/views/settings/presets.py, desktop/views/settings/prompts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} copy</source>
        <extracomment>desktop/views/settings/named_editor.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Temperature</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Higher is bolder; 0 always takes the likeliest token.</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Top-k</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only the k likeliest tokens are drawn from; 0 = all.</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Top-p</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only the likeliest tokens that together have this share are drawn from; 1 = all.</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Min-p</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens below this share of the likeliest one&apos;s are left out; 0 = none.</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Repetition penalty</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Above 1, tokens that were said lately become less likely; 1 = no penalty.</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Penalty reaches back</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens that count as said lately; 0 = none.</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Seed</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The same seed, settings and model give the same text again.</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Longest reply</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A reply ends after so many tokens.</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft length</source>
        <extracomment>desktop/views/settings/numbers.py, desktop/widgets/what_if.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens that are drafted before each check; 0 = none.</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Context</source>
        <extracomment>desktop/views/settings/numbers.py, desktop/widgets/status_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens that the model sees at once, the reply included; more takes memory.</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU layers, target</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Layers of the target on the graphics card; more is faster.</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>GPU layers, draft</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The same of the draft; small, it should lie there whole.</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Threads</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Processor threads that compute; more than there are cores is slower.</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt slice</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt tokens that are read in one pass; fewer take less memory.</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Snapshots</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens by which a hybrid model&apos;s state can be rolled back after wrong drafts; each takes memory.</source>
        <extracomment>desktop/views/settings/numbers.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Which preset is used</source>
        <extracomment>desktop/views/settings/preset_use.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>By chats that have no preset of their own. A chat&apos;s own values always stay its own.</source>
        <extracomment>desktop/views/settings/preset_use.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>One model</source>
        <extracomment>desktop/views/settings/preset_use.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Its preset</source>
        <extracomment>desktop/views/settings/preset_use.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>As every model</source>
        <extracomment>desktop/views/settings/preset_use.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What its publisher recommends, else {preset}</source>
        <extracomment>desktop/views/settings/preset_use.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Duplicate preset</source>
        <extracomment>desktop/views/settings/presets.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete preset</source>
        <extracomment>desktop/views/settings/presets.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Yours. Chats that use it have what you change here from their next message on.</source>
        <extracomment>desktop/views/settings/presets.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New preset</source>
        <extracomment>desktop/views/settings/presets.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{says} It stays as it is: duplicate it to change it.</source>
        <extracomment>desktop/views/settings/presets.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>System prompts under a name, to be taken into a chat from its settings. What a chat has taken is its own: changes here reach no chat that exists.</source>
        <extracomment>desktop/views/settings/prompts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text of the prompt</source>
        <extracomment>desktop/views/settings/prompts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New prompt</source>
        <extracomment>desktop/views/settings/prompts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} could not be read: a chat in it is larger than {size} MB. Export the other chats one at a time.</source>
        <extracomment>desktop/store/exchange.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{name} is no file of Tandem&apos;s chats, or is damaged: {error}.</source>
        <extracomment>desktop/store/exchange.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chats in {path} are damaged. When Tandem starts next, what can be read of them is saved in a new file; the damaged one is kept.</source>
        <extracomment>desktop/store/writer.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Prompt</source>
        <extracomment>desktop/views/settings/prompts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Duplicate prompt</source>
        <extracomment>desktop/views/settings/prompts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Delete prompt</source>
        <extracomment>desktop/views/settings/prompts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text</source>
        <extracomment>desktop/views/settings/prompts.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Enter sends, Shift+Enter makes a line</source>
        <extracomment>desktop/views/settings/writing.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Ctrl+Enter sends, Enter makes a line</source>
        <extracomment>desktop/views/settings/writing.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>While an input method composes, Enter only ends its word. Default: Enter sends.</source>
        <extracomment>desktop/views/settings/writing.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Send key</source>
        <extracomment>desktop/views/settings/writing.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>System prompt of new chats</source>
        <extracomment>desktop/views/settings/writing.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What the model always keeps in mind. Each chat can change its own; those that exist keep theirs.</source>
        <extracomment>desktop/views/settings/writing.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>More</source>
        <extracomment>desktop/views/sidebar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Unpin</source>
        <extracomment>desktop/views/sidebar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pin</source>
        <extracomment>desktop/views/sidebar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rename</source>
        <extracomment>desktop/views/sidebar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Export…</source>
        <extracomment>desktop/views/sidebar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Trying drafts on your chats</source>
        <extracomment>desktop/views/status_line.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Measuring this pair: messages wait</source>
        <extracomment>desktop/views/status_line.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Comparing with and without speculation</source>
        <extracomment>desktop/views/status_line.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{speedup} plain</source>
        <extracomment>desktop/views/status_line.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is none. Without one, models whose licence must be accepted first cannot be downloaded; all others can.</source>
        <extracomment>desktop/views/token_dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is one. It lies in this system&apos;s keyring.</source>
        <extracomment>desktop/views/token_dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is one, for as long as Tandem runs: this system has no keyring that keeps it.</source>
        <extracomment>desktop/views/token_dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The one of the hub&apos;s own programs is used (HF_TOKEN, or &apos;hf auth login&apos;).</source>
        <extracomment>desktop/views/token_dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Token for the model hub</source>
        <extracomment>desktop/views/token_dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Token</source>
        <extracomment>desktop/views/token_dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep</source>
        <extracomment>desktop/views/token_dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Test</source>
        <extracomment>desktop/views/token_dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Asks huggingface.co whose token it is</source>
        <extracomment>desktop/views/token_dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Forget the token</source>
        <extracomment>desktop/views/token_dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Asking the hub…</source>
        <extracomment>desktop/views/token_dialog.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Target model</source>
        <extracomment>desktop/views/top_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Choose a model</source>
        <extracomment>desktop/views/top_bar.py, desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft</source>
        <extracomment>desktop/views/top_bar.py, desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Of the replies&apos; tokens, those that would have been the draft&apos;s first choice.</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Best length</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Draft tokens a pass with the highest predicted speed.</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Speed-up</source>
        <extracomment>desktop/views/trial.py, desktop/widgets/status_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Of generation against plain decoding, at that length: predicted by Eq. (2), an estimate.</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The models were exchanged meanwhile, or the engine stopped. The draft list takes any of these drafts.</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Accepted: tokens that would have been the draft&apos;s first choice. Speed-up: of generation against plain decoding at the best length, predicted from pass costs measured on this machine.</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try drafts on my chats</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drafts</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Use this draft</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel</source>
        <extracomment>desktop/views/trial.py, desktop/widgets/rewrite.py, desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A reply, a comparison or a model is on its way; this begins after it.</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Reading your chats…</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Loading {draft}</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{draft} reads the replies</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{doing} ({number} of {all})</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{draft} was not tried: {why}</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No draft could be tried</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Too few replies yet</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The drafts were not tried</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{draft} (in use)</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>Judged on {tokens:,} tokens of {replies:,} replies that {target} wrote in your chats, without generating anything.</source>
        <extracomment>desktop/views/trial.py; of one: “Judged on {tokens:,} tokens of {replies:,} reply that {target} wrote in your chats, without generating anything.”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>not tried</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>none</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>plain is faster</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No draft here is predicted to beat plain decoding</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{draft}, which is in use, promises the most: ≈ {ratio:.2f}× plain</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{draft} promises the most: ≈ {ratio:.2f}× plain</source>
        <extracomment>desktop/views/trial.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A reply has ended</source>
        <extracomment>desktop/views/unseen.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Click here to read it.</source>
        <extracomment>desktop/views/unseen.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Edit this code</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Most of the answer is in the question already: speculation gains most here</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Explain this</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Much is easy to foresee, some is not</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tell a story</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hard to foresee: here a draft seldom pays, and Tandem notices</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Two models, one answer</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A small draft model proposes, the target checks and decides. The text is the target&apos;s own but for near-ties, sooner. Start with one of these, or write your own.</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A pair of models for this machine</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A pair of models to start with</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Go on with the download ({size} left)</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download the pair ({size})</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Or begin small ({size})</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Smaller, and sooner here: {target} with {draft}.</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Too little memory is free for a pair of models</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The smallest in the catalogue, {target} with {draft}, takes about {memory}, and {free} are free. Close other programs and start Tandem again, or look for a smaller model.</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download the pair</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Or begin small</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Other models…</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Pause download</source>
        <extracomment>desktop/views/welcome.py, desktop/widgets/transfer.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>They take about {memory} of memory and write {speed} here, estimated.</source>
        <extracomment>desktop/views/welcome.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show</source>
        <extracomment>desktop/widgets/attached.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy text</source>
        <extracomment>desktop/widgets/attached.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy {name}</source>
        <extracomment>desktop/widgets/attached.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hide {name}</source>
        <extracomment>desktop/widgets/attached.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show {name}</source>
        <extracomment>desktop/widgets/attached.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text of {name}</source>
        <extracomment>desktop/widgets/attached.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Here are the first {shown} of {total} characters. Copy takes all.</source>
        <extracomment>desktop/widgets/attached.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Thinking…</source>
        <extracomment>desktop/widgets/blocks.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Hide thinking</source>
        <extracomment>desktop/widgets/blocks.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show thinking</source>
        <extracomment>desktop/widgets/blocks.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove</source>
        <extracomment>desktop/widgets/chips.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Remove {name}</source>
        <extracomment>desktop/widgets/chips.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>reading…</source>
        <extracomment>desktop/widgets/chips.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{size} · first part · {tokens} tok</source>
        <extracomment>desktop/widgets/chips.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{size} · {tokens} tok</source>
        <extracomment>desktop/widgets/chips.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message numerus="yes">
        <source>{size}, {tokens} tokens.</source>
        <extracomment>desktop/widgets/chips.py; of one: “{size}, {tokens} token.”</extracomment>
        <translation type="unfinished">
            <numerusform></numerusform>
        </translation>
    </message>
    <message>
        <source>Delete removes it</source>
        <extracomment>desktop/widgets/chips.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attachments</source>
        <extracomment>desktop/widgets/chips.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy code</source>
        <extracomment>desktop/widgets/code.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>text</source>
        <extracomment>desktop/widgets/code.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Code, {language}</source>
        <extracomment>desktop/widgets/code.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Code, plain text</source>
        <extracomment>desktop/widgets/code.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens that the model would read if this message were sent: the conversation so far, and the message.</source>
        <extracomment>desktop/widgets/composer.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>About how many tokens that is: while no model is loaded they cannot be counted.</source>
        <extracomment>desktop/widgets/composer.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A reply is being written: Esc stops it, your message stays here.</source>
        <extracomment>desktop/widgets/composer.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{names} is still being read. Wait a moment, or remove it.</source>
        <extracomment>desktop/widgets/composer.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Drop to attach</source>
        <extracomment>desktop/widgets/composer.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Send</source>
        <extracomment>desktop/widgets/composer.py, desktop/widgets/rewrite.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{tokens} tok of {size}</source>
        <extracomment>desktop/widgets/composer.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{tokens} tok</source>
        <extracomment>desktop/widgets/composer.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What passes cost here</source>
        <extracomment>desktop/widgets/cost_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens</source>
        <extracomment>desktop/widgets/cost_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Of the target, in one pass; or one of the draft&apos;s</source>
        <extracomment>desktop/widgets/cost_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Measured on this machine, milliseconds</source>
        <extracomment>desktop/widgets/cost_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Plain passes</source>
        <extracomment>desktop/widgets/cost_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>How many passes over one token take the same time</source>
        <extracomment>desktop/widgets/cost_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Default: {number}.</source>
        <extracomment>desktop/widgets/field.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not used: {problem}</source>
        <extracomment>desktop/widgets/field.py, desktop/widgets/name_edit.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy formula</source>
        <extracomment>desktop/widgets/maths_block.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Formula: {latex}</source>
        <extracomment>desktop/widgets/maths_block.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stopped at the token limit</source>
        <extracomment>desktop/widgets/message.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>stopped</source>
        <extracomment>desktop/widgets/message.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What was written before stays as it was; the figures are of what was written last.</source>
        <extracomment>desktop/widgets/message.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Waiting for the first word…</source>
        <extracomment>desktop/widgets/message.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>the engine stopped</source>
        <extracomment>desktop/widgets/message.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>failed: {why}</source>
        <extracomment>desktop/widgets/message.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tandem ended while this was written</source>
        <extracomment>desktop/widgets/message.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{author}: {words} (with {names})</source>
        <extracomment>desktop/widgets/message.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{author}: {words}</source>
        <extracomment>desktop/widgets/message.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Earlier version</source>
        <extracomment>desktop/widgets/message.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Later version</source>
        <extracomment>desktop/widgets/message.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Edit message</source>
        <extracomment>desktop/widgets/message.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Earlier answer</source>
        <extracomment>desktop/widgets/message.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Later answer</source>
        <extracomment>desktop/widgets/message.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Edit reply</source>
        <extracomment>desktop/widgets/message.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Continue</source>
        <extracomment>desktop/widgets/message.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Regenerate</source>
        <extracomment>desktop/widgets/message.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Compare with and without speculation</source>
        <extracomment>desktop/widgets/message.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Message…</source>
        <extracomment>desktop/widgets/message_edit.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Message</source>
        <extracomment>desktop/widgets/message_edit.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Copy message</source>
        <extracomment>desktop/widgets/message_tools.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Conversation</source>
        <extracomment>desktop/widgets/message_view.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Show earlier messages</source>
        <extracomment>desktop/widgets/message_view.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Jump to latest</source>
        <extracomment>desktop/widgets/jump.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>“{name}” was deleted.</source>
        <extracomment>desktop/widgets/named_row.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Close this notice</source>
        <extracomment>desktop/widgets/notice_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Underlined: drafted and accepted. Dotted: the target&apos;s correction of a draft. Dashed: the token that a wholly accepted draft brings on top. Not marked: plain decoding. In italics: edited, or not known. Click a token, or press Enter on it, to see its round.</source>
        <extracomment>desktop/widgets/origins.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>drafted, accepted</source>
        <extracomment>desktop/widgets/origins.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>correction</source>
        <extracomment>desktop/widgets/origins.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>bonus</source>
        <extracomment>desktop/widgets/origins.py, desktop/widgets/round_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>edited, or not known token by token</source>
        <extracomment>desktop/widgets/origins.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Place</source>
        <extracomment>desktop/widgets/round_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Guessed</source>
        <extracomment>desktop/widgets/round_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The target said</source>
        <extracomment>desktop/widgets/round_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Probability</source>
        <extracomment>desktop/widgets/round_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What came of it</source>
        <extracomment>desktop/widgets/round_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Round {number}: {guessed} guessed by the draft model, {accepted} accepted; guessing {guessing} ms, pass {took} ms.</source>
        <extracomment>desktop/widgets/round_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Round {number}: {guessed} guessed by lookup, {accepted} accepted; guessing {guessing} ms, pass {took} ms.</source>
        <extracomment>desktop/widgets/round_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Round {number}: {guessed} guessed by lookahead, {accepted} accepted; guessing {guessing} ms, pass {took} ms.</source>
        <extracomment>desktop/widgets/round_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The target&apos;s probability for its token, by all of the chat&apos;s sampling settings; where the likeliest token is always taken, at temperature 1. Known of replies that are written while tokens are shown.</source>
        <extracomment>desktop/widgets/round_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text of the message, token by token</source>
        <extracomment>desktop/widgets/origins.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{how}: round {number}, place {place}</source>
        <extracomment>desktop/widgets/origins.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{how}: round {number}, place {place}, probability {chance}</source>
        <extracomment>desktop/widgets/origins.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Round</source>
        <extracomment>desktop/widgets/round_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>token {number}</source>
        <extracomment>desktop/widgets/round_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>accepted</source>
        <extracomment>desktop/widgets/round_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>replaced</source>
        <extracomment>desktop/widgets/round_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>discarded</source>
        <extracomment>desktop/widgets/round_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Round {number}: plain, pass {took} ms.</source>
        <extracomment>desktop/widgets/round_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>s</source>
        <comment>seconds</comment>
        <extracomment>desktop/widgets/plots.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Accepted by place in the draft</source>
        <extracomment>desktop/widgets/plots.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>place</source>
        <extracomment>desktop/widgets/plots.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>share</source>
        <extracomment>desktop/widgets/plots.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Place by place: {shares}.</source>
        <extracomment>desktop/widgets/plots.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens a pass, by acceptance</source>
        <extracomment>desktop/widgets/plots.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>acceptance</source>
        <extracomment>desktop/widgets/plots.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>tokens a pass</source>
        <extracomment>desktop/widgets/plots.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Eq. (1) for drafts of {one} (dashed) and {other} (dotted).</source>
        <extracomment>desktop/widgets/plots.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Rounds</source>
        <extracomment>desktop/widgets/plots.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>ms</source>
        <extracomment>desktop/widgets/cost_table.py, desktop/widgets/plots.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Which rounds are shown</source>
        <extracomment>desktop/widgets/plots.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>rounds</source>
        <extracomment>desktop/widgets/plots.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>For example: Answer briefly, and say when you are not sure.</source>
        <extracomment>desktop/widgets/prompt_edit.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>No prompts are kept yet</source>
        <extracomment>desktop/widgets/prompt_edit.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Keep this one</source>
        <extracomment>desktop/widgets/prompt_edit.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Text of the message</source>
        <extracomment>desktop/widgets/prose.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Sends a new version. The old one stays beside it.</source>
        <extracomment>desktop/widgets/rewrite.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Saves your version of the reply. The old one stays beside it, and the chat goes on from yours.</source>
        <extracomment>desktop/widgets/rewrite.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your version of the reply</source>
        <extracomment>desktop/widgets/rewrite.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>New version of the message</source>
        <extracomment>desktop/widgets/rewrite.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Save</source>
        <extracomment>desktop/widgets/rewrite.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>&lt; {most}</source>
        <extracomment>desktop/widgets/round_table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Generation speed</source>
        <extracomment>desktop/widgets/status_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tokens per pass</source>
        <extracomment>desktop/widgets/status_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Time split</source>
        <extracomment>desktop/widgets/status_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Engine state</source>
        <extracomment>desktop/widgets/status_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cancel loading</source>
        <extracomment>desktop/widgets/status_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>{figure}: {value}</source>
        <extracomment>desktop/widgets/status_bar.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Table</source>
        <extracomment>desktop/widgets/table.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Where a pass goes</source>
        <extracomment>desktop/widgets/time_split.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Undo ({key})</source>
        <extracomment>desktop/widgets/toast.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Undo</source>
        <extracomment>desktop/widgets/toast.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Download: {state}</source>
        <extracomment>desktop/widgets/transfer.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What if</source>
        <extracomment>desktop/widgets/what_if.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Acceptance</source>
        <extracomment>desktop/widgets/what_if.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Cost of a draft step, of a pass</source>
        <extracomment>desktop/widgets/what_if.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Try again</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Load anyway</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Load with less context</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Load without a draft</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attach it</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Paste into the message</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Send the first part</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Open log</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Engine settings</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model file is missing</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model file is incomplete</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This is not a model file</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model file is damaged</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model file is not the published one</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model is not in the library</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine cannot run this model</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model could not be loaded</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This draft does not fit the target</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The draft model could not be used; replies go on without it</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine refused the request</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine is busy with another reply</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The conversation does not fit the context</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model&apos;s chat template failed</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tandem cannot do this yet</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Not enough memory for this model</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This does not fit into the memory that is free</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine failed while computing</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model computed invalid numbers</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine made an invalid token</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine lost its place in the conversation</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The network cannot be reached</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The download failed</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This model&apos;s licence must be accepted first</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The disk is full</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A folder cannot be written</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Your model catalogue has a mistake</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine stopped unexpectedly</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine did not start</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine is of another version</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The engine refused the connection</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tandem hit a fault of its own</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Tandem cannot read pictures yet</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Only text is sent. Describe the picture in words, or paste its text.</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A reply takes no files</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Attach them to a message of yours, or paste their text.</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is nothing to send</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Write a message first.</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Another reply is being written</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Wait for its end, or stop it; then try again.</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is nothing to continue</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A reply can go on where it was stopped, cut off or edited, as long as it is the last one of the chat.</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The model added nothing</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>It ends its reply here. Edit the end of it, or regenerate, to get another.</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>There is nothing to compare</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This text was edited, not written by the model.</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>This chat was deleted</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>Undo the deletion to go on with it.</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>A part of this chat is damaged on the disk</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>All messages are here. Figures or settings of some could not be read and are left out; the log says which.</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chats could not be read</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>The chat was not saved</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <source>What was written so far is kept.</source>
        <extracomment>desktop/words.py</extracomment>
        <translation type="unfinished"></translation>
    </message>
</context>
</TS>
