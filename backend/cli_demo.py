"""``tandem demo``: three built-in prompts, each answered with and without speculation at the same time."""

from __future__ import annotations

import argparse
import sys
import textwrap
from collections.abc import Sequence

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
_GAINED = (
    "An edit repeats its input, so most drafts are accepted and one pass yields several tokens; a story is new at "
    "every word, so few are, and Tandem stays with plain decoding where drafting would cost more than it saves."
)
_NOT_GAINED = (
    "Here drafting gained little: checking drafts costs this machine about what it saves with this pair. Tandem then "
    "stays with plain decoding; another draft may pay ('tandem tune')."
)
_SLOWER = (
    "{ratio:.2f}× is slower than plain decoding, which Tandem avoids by the costs it has measured: the machine seems "
    "busy with something else. Run it again when it is quiet ('tandem demo')."
)


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
    with Session(choice.files) as session:
        state = session.load(choice.load_request(args))
        _head(state, args.max_tokens)
        ratios = []
        for prompt in DEMO:
            result = _compare(session, prompt, args.max_tokens)
            ratios.append(result.generation_ratio)
            _show(prompt, result)
    print(textwrap.fill(conclusion(ratios), 100))
    return 0


def conclusion(ratios: Sequence[float]) -> str:
    """What these speed-ups mean."""
    if min(ratios) < _BUSY:
        return _SLOWER.format(ratio=min(ratios))
    return _GAINED if max(ratios) >= _GAIN else _NOT_GAINED


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
    print(f"{state.engine}, {state.threads} threads. Greedy, {max_tokens} tokens, both ways in turn.\n")


def _show(prompt: Prompt, result: Comparison) -> None:
    plain, ahead = result.plain, result.speculation
    accepted = "nothing drafted" if ahead.acceptance is None else f"{ahead.acceptance:.0%} accepted"
    print(f"{prompt.category}")
    print(f"  whole request   {result.request_ratio:.2f}×   {plain.request_ms:.0f} ms → {ahead.request_ms:.0f} ms")
    print(
        f"  generation      {result.generation_ratio:.2f}×   "
        f"{plain.tokens_per_second or 0:.1f} → {ahead.tokens_per_second or 0:.1f} tok/s"
    )
    print(f"  drafts          {accepted}; source: {sources(ahead)}")
    print(textwrap.fill(difference_line(result.difference), 100, initial_indent=_TEXT, subsequent_indent=" " * 18))
    print()
    sys.stdout.flush()
