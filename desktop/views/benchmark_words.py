"""What the dialog of a benchmark says of replies: how far it has come, the rows of its report, where texts differ."""

from __future__ import annotations

from collections.abc import Sequence

from backend.bench.report import Divergence, Ratio, Row
from backend.bench.series import Series, Turn
from backend.bench.words import margins
from backend.bench.workloads import ALL
from backend.errors import EngineError, ErrorCode
from desktop.figures import MISSING, forecast_time, percent
from desktop.language import counted, figure, marked, tr

_HEADINGS = {
    marked("Prompts"): marked("Their category."),
    marked("Way"): marked("How replies were decoded."),
    marked("tok/s"): marked("Generation: (tokens - 1) ÷ time from the prompt's end to the last token."),
    marked("Generation"): marked(
        "How many times as fast as plain, by milliseconds a token; with the 95 % interval over prompts."
    ),
    marked("Whole request"): marked("The same of the whole time, reading the prompt included."),
    marked("Accepted"): marked("Draft tokens that the target kept ÷ draft tokens that it checked."),
    marked("Tokens/pass"): marked("Tokens ÷ passes of the target after the prompt. Plain decoding makes 1."),
    marked("Same text"): marked("Replies with plain's text, token by token."),
    marked("Lead"): marked(
        "Where texts differ: the largest lead of a token over its second best at the first difference. Small is a "
        "near-tie, which passes of different sizes round differently."
    ),
}
_WAYS = {"plain": marked("Plain"), "auto": marked("Automatic")}
_WAYS_WITHIN = {"plain": marked("plain"), "auto": marked("automatic")}
"""Within a sentence."""
_DIFFERENCES = 5
"""That are listed; the saved report has all."""


def headings() -> list[tuple[str, str]]:
    """Of the report's columns, each with its definition."""
    return [(tr(heading), tr(definition)) for heading, definition in _HEADINGS.items()]


def way(mode: str, *, within: bool = False) -> str:
    """A mode in words, by itself or within a sentence."""
    name, _, again = mode.partition("#")
    kind, _, length = name.partition(":")
    known = (_WAYS_WITHIN if within else _WAYS).get(kind)
    said = tr(known) if known else tr("{length} drafted", length=length)
    return tr("{way} again", way=said) if again else said


def cells(row: Row) -> tuple[str, ...]:
    """A row of the report as texts."""
    return (
        tr("All", note="prompts") if row.category == ALL else row.category,
        way(row.mode),
        _shown(row.tokens_per_second, ".1f"),
        _ratio(row.generation),
        _ratio(row.request),
        MISSING if row.acceptance is None else percent(row.acceptance),
        _shown(row.tokens_per_pass, ".2f"),
        f"{row.equal}/{row.compared}" if row.compared else MISSING,
        _shown(row.worst_margin, ".3g"),
    )


def _ratio(ratio: Ratio | None) -> str:
    if ratio is None:
        return MISSING
    value, low, high = (figure(x, ".2f") for x in (ratio.value, ratio.low, ratio.high))
    return tr("{value}× ({low} to {high})", value=value, low=low, high=high) if ratio.prompts > 1 else f"{value}×"


def _shown(value: float | None, form: str) -> str:
    return MISSING if value is None else figure(value, form)


def progress(at: int, of: int, left: float | None) -> str:
    """Which reply is measured; ``left`` = milliseconds for the rest."""
    if left is None:
        return tr("Reply {at} of {of}", at=figure(at, ","), of=figure(of, ","))
    return tr("Reply {at} of {of}, about {time} left", at=figure(at, ","), of=figure(of, ","), time=forecast_time(left))


def where(series: Series, turn: Turn) -> str:
    """The reply that is measured: of which prompt, in which way, and which repeat of several."""
    at, prompts = series.prompts.index(turn.prompt) + 1, len(series.prompts)
    shown = {"at": f"{at}", "prompts": f"{prompts}", "name": turn.prompt.id, "way": way(turn.mode, within=True)}
    if series.repeats <= 1:
        return tr("Prompt {at} of {prompts} ({name}), {way}. Messages wait until the end.", **shown)
    shown |= {"repeat": f"{turn.repeat + 1}", "repeats": f"{series.repeats}"}
    return tr(
        "Prompt {at} of {prompts} ({name}), {way}, repeat {repeat} of {repeats}. Messages wait until the end.", **shown
    )


def ending(error: EngineError | None, done: int, of: int) -> str:
    """How many replies were measured, and why not all."""
    shown = {"done": figure(done, ","), "of": figure(of, ",")}
    if error is None:
        return counted("{done} reply measured.", "{done} replies measured.", done, **shown)
    if error.code is ErrorCode.CANCELLED:
        if not done:
            return tr("Stopped before the first reply was measured.")
        return counted("Stopped after {done} of {of} reply.", "Stopped after {done} of {of} replies.", of, **shown)
    if not done:
        said = tr("It ended before the first reply was measured.")
    else:
        said = counted("It ended after {done} of {of} reply.", "It ended after {done} of {of} replies.", of, **shown)
    return f"{said} {error.message[:1].upper()}{error.message[1:]}"


def differences(found: Sequence[Divergence]) -> str:
    """Where texts leave plain's; empty where none does."""
    if not found:
        return ""
    said = [tr("Where texts leave plain's, and the lead of either token over its second best there:")]
    said += [
        tr(
            "{way}, {prompt}, repeat {repeat}, token {token}: {margins}",
            way=way(d.mode),
            prompt=d.prompt_id,
            repeat=d.repeat + 1,
            token=d.index + 1,
            margins=margins(d),
        )
        for d in found[:_DIFFERENCES]
    ]
    if len(found) > _DIFFERENCES:
        said.append(tr("… and {more} more in the saved report.", more=figure(len(found) - _DIFFERENCES, ",")))
    return "\n".join(said)
