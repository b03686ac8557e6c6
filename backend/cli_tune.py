"""``tandem tune``: which draft would have helped most with replies like these."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

from backend.bench.runner import reply_request
from backend.bench.tune import Failed, Trying, chat_replies, try_drafts
from backend.bench.workloads import WORKLOADS, Prompt, load_prompts
from backend.chats import Reply
from backend.cli import complain, progress
from backend.cli_chat import ask
from backend.cli_pair import PairChoice, add_pair_options, choose_pair, temperature, whole
from backend.cli_session import Session
from backend.errors import EngineError, ErrorCode
from backend.forecast import Forecast
from backend.library.paths import chats_file
from backend.protocol import Sampling, Speculation, State


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``tune``."""
    tune = subparsers.add_parser(
        "tune",
        help="which draft pays on prompts like yours, or on your chats",
        epilog="The target answers each prompt once (with --chats: what it wrote in the window's chats is taken); each "
        "draft then reads the answers and is told by how many of their tokens it would have guessed. Nothing is "
        "generated with a draft.",
    )
    add_pair_options(tune, draft=False)
    tune.add_argument("--drafts", metavar="A,B,…", help="ids or files (default: every draft here that fits)")
    source = tune.add_mutually_exclusive_group()
    source.add_argument("--prompts", type=Path, metavar="FILE", help="JSON Lines: id, category, turns (default: three)")
    source.add_argument("--chats", action="store_true", help="judge by the target's replies in the window's chats")
    tune.add_argument("--limit", type=whole(1), metavar="N", help="only the first N prompts")
    tune.add_argument("--max-tokens", type=whole(2), default=128, metavar="N", help="tokens a reply (default: 128)")
    tune.add_argument("--temperature", type=temperature, default=0.0, metavar="T", help="default: 0, greedy")
    tune.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """The command."""
    first = choose_pair(args.target, "lookup")
    if not args.drafts and first.files:
        raise EngineError(ErrorCode.BAD_REQUEST, "The target is a file, so the drafts must be named with --drafts.")
    names = args.drafts.split(",") if args.drafts else fitting(first.target)
    choices = [choose_pair(args.target, name.strip()) for name in names if name.strip()]
    if not choices:
        raise EngineError(ErrorCode.BAD_REQUEST, "No draft model that fits is here; name some with --drafts.")
    prompts = [] if args.chats else _prompts(args)
    with Session(_files([first, *choices])) as session:
        state = session.load(first.load_request(args, settle=True))
        replies = _from_chats(state) if args.chats else _answers(session, prompts, args)
        found = session.run(_try(session, [c.draft for c in choices if c.draft is not None], replies))
    if not found:  # why was said of each
        return 1
    for line in table(found):
        print(line)
    return 0


def _prompts(args: argparse.Namespace) -> list[Prompt]:
    return (load_prompts(args.prompts) if args.prompts else list(WORKLOADS["three"]))[: args.limit]


def _from_chats(state: State) -> list[Reply]:
    assert state.target is not None, "it was loaded"
    replies = chat_replies(chats_file(), state.target)
    complain(f"{len(replies)} replies from the chats, {sum(len(one.ids) for one in replies):,} tokens.")
    return replies


def _files(choices: Sequence[PairChoice]) -> dict[str, Path]:
    files: dict[str, Path] = {}
    for name, path in (pair for choice in choices for pair in choice.files.items()):
        if files.setdefault(name, path) != path:
            raise EngineError(ErrorCode.BAD_REQUEST, f"{files[name]} and {path} have the same name; rename one.")
    return files


def fitting(target: str) -> list[str]:
    """Ids of the drafts here that fit the target, in the library's order."""
    from backend.library.library import Library
    from backend.library.pairing import drafts_for

    library = Library()
    choices = drafts_for(library.find(target), library.models())
    return [c.model.id for c in choices if c.ready]


def _answers(session: Session, prompts: Sequence[Prompt], args: argparse.Namespace) -> list[Reply]:
    complain(f"The target answers {len(prompts)} prompt{'s' if len(prompts) != 1 else ''} …")
    replies = []
    try:
        for n, prompt in enumerate(prompts, 1):
            progress(f"{n}/{len(prompts)}")
            replies.append(_answer(session, prompt, args))
    finally:
        progress("")
    return [one for one in replies if one.ids]


def _answer(session: Session, prompt: Prompt, args: argparse.Namespace) -> Reply:
    sampling = Sampling(temperature=args.temperature, seed=0)
    request = reply_request(prompt, sampling, args.max_tokens, False, Speculation(source="lookup"))
    _, end = ask(session, request, lambda _: None)
    if end.reason == "cancelled":
        raise EngineError(ErrorCode.CANCELLED, "Stopped.")
    return Reply(request.messages, end.ids)


async def _try(session: Session, drafts: Sequence[str], replies: Sequence[Reply]) -> list[Forecast]:
    found: list[Forecast] = []
    said = ""
    async with aclosing(try_drafts(session.client, drafts, replies)) as steps:  # type: ignore[type-var]
        async for step in steps:
            match step:
                case Forecast():
                    found.append(step)
                case Failed(draft, why):
                    complain(f"{draft}: {why}")
                case Trying(draft, loading=False) if draft != said:
                    said = draft
                    complain(f"{draft} reads them …")
    return found


def table(found: Sequence[Forecast]) -> list[str]:
    """One line a draft, the most promising first."""
    lines = [f"{'draft':32}  {'tokens':>6}  {'accepted':>8}  {'step':>5}  {'best length':>11}  speed-up"]
    for one in sorted(found, key=lambda f: -f.speedup):
        best = str(one.best) if one.best else "none"
        lines.append(
            f"{one.draft:32}  {one.tokens:6d}  {one.acceptance:8.1%}  {one.step:5.2f}  {best:>11}  {one.speedup:.2f}×"
        )
    return [*lines, "Accepted: of the replies' tokens, the draft's first guess. Step: a draft token, in plain passes."]
