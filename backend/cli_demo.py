"""``tandem demo``: three built-in prompts, each answered with and without speculation at the same time."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Mapping

from backend.bench.runner import new_job
from backend.bench.workloads import DEMO, Prompt
from backend.cli import complain
from backend.cli_figures import difference_line, sources
from backend.cli_pair import add_pair_options, choose_pair, whole
from backend.cli_session import Session
from backend.errors import EngineError, ErrorCode
from backend.protocol import Comparison, Message, ReplyRequest, Sampling, Speculation, State
from backend.text import one_line

_TOKENS = 96
_TEXT = "  text            "
_BUSY, _GAIN = 0.9, 1.05
"""Below the first a measured cost was not what it was a moment ago; above the second is more than noise."""
_MINUTES_FROM = 90
_GAINED = (
    "An edit repeats its input, so most drafts are accepted and one pass yields several tokens; a story is new at "
    "every word, so few are, and Tandem stays with plain decoding where drafting would cost more than it saves."
)
_NOT_GAINED = (
    "Here drafting gained little: checking drafts costs this machine about what it saves with this pair. Tandem then "
    "stays with plain decoding; another draft may pay ('tandem tune')."
)
_SLOWER = (
    "{what} came out slower ({ratio:.2f}×): drafts that are not accepted cost time and save none, and more were tried "
    "than paid. Most often another program took the processor meanwhile; run 'tandem demo' again when the machine is "
    "quiet."
)
_CALLED = {"edit": "The edit", "explain": "The explanation", "story": "The story"}
"""The prompts' replies, by id."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``demo``."""
    demo = subparsers.add_parser("demo", help="three prompts with and without speculation")
    add_pair_options(demo)
    demo.add_argument("--max-tokens", type=whole(2), default=_TOKENS, metavar="N", help=f"default: {_TOKENS}")
    demo.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """The command."""
    choice = choose_pair(args.target, args.draft)
    for note in choice.notes:
        complain(note)
    print("Loading the models…", flush=True)
    with Session(choice.files) as session:
        state = session.load(choice.load_request(args, settle=True))
        _head(state, args.max_tokens)
        ratios = {}
        for prompt in DEMO:
            print(prompt.category, flush=True)  # a minute of nothing would look like a fault
            result = _compare(session, prompt, args.max_tokens)
            ratios[prompt.id] = result.generation_ratio
            _show(result)
    print(textwrap.fill(conclusion(ratios), 100))
    return 0


def conclusion(ratios: Mapping[str, float]) -> str:
    """What these speed-ups, by the prompts' ids, mean."""
    slowest = min(ratios, key=lambda prompt: ratios[prompt])
    slower = _SLOWER.format(what=_CALLED[slowest], ratio=ratios[slowest]) if ratios[slowest] < _BUSY else ""
    if max(ratios.values()) >= _GAIN:
        return f"{_GAINED} {slower}".rstrip()
    return slower or _NOT_GAINED


def duration(state: State, max_tokens: int) -> str:
    """About how long the replies take, by what a plain pass costs; empty where that is not known."""
    plain = state.cost.target.get(1) if state.cost is not None else None
    if not plain:
        return ""
    seconds = 2 * len(DEMO) * max_tokens * plain / 1e3
    if seconds > _MINUTES_FROM:
        return f", about {seconds / 60:.0f} minutes"
    return f", about {max(5 * round(seconds / 5), 5)} seconds"


def _compare(session: Session, prompt: Prompt, max_tokens: int) -> Comparison:
    request = ReplyRequest(
        messages=(Message(role="user", content=prompt.text),),
        sampling=Sampling(temperature=0.0, seed=0),
        max_tokens=max_tokens,
        speculation=Speculation(),
        reuse_cache=False,
    )

    async def work() -> Comparison:
        async for event in session.client.compare(request, new_job()):
            if isinstance(event, Comparison):
                return event
        raise EngineError(ErrorCode.PROTOCOL_MISMATCH, "The engine ended a comparison without its result.")

    return session.run(work())


def _head(state: State, max_tokens: int) -> None:
    target, draft = state.target, state.draft
    assert target is not None, "a load ends with a target or an error"
    drafts = f", drafts from {draft.name} ({draft.quant}) and prompt lookup" if draft else ", drafts from prompt lookup"
    print(one_line(f"{target.name} ({target.quant}){drafts}."))
    print(f"{state.engine}, {state.threads} threads.")
    print(f"Greedy, {max_tokens} tokens, both ways in turn{duration(state, max_tokens)}.\n")


def _show(result: Comparison) -> None:
    plain, ahead = result.plain, result.speculation
    accepted = "nothing drafted" if ahead.acceptance is None else f"{ahead.acceptance:.0%} accepted"
    print(f"  whole request   {result.request_ratio:.2f}×   {plain.request_ms:.0f} ms → {ahead.request_ms:.0f} ms")
    print(
        f"  generation      {result.generation_ratio:.2f}×   "
        f"{plain.tokens_per_second or 0:.1f} → {ahead.tokens_per_second or 0:.1f} tok/s"
    )
    print(f"  drafts          {accepted}; source: {sources(ahead)}")
    print(textwrap.fill(difference_line(result.difference), 100, initial_indent=_TEXT, subsequent_indent=" " * 18))
    print()
    sys.stdout.flush()
