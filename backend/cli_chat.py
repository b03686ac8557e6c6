"""``tandem chat``: one reply to a prompt, or a conversation in the terminal."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Literal

from backend.bench.runner import new_job
from backend.cli import complain
from backend.cli_figures import status_line
from backend.cli_pair import PairChoice, add_pair_options, choose_pair, temperature, whole
from backend.cli_session import Session
from backend.errors import EngineError, ErrorCode
from backend.protocol import Delta, Finished, Message, ReplyRequest, Sampling, Speculation, State
from backend.text import check_typed, harmless

_INTERRUPTED = 130


@dataclass(frozen=True)
class Settings:
    """How the replies of a chat are made."""

    sampling: Sampling
    speculation: Speculation
    max_tokens: int | None = None
    system: str = ""

    def request(self, history: list[Message], *, go_on: bool = False) -> ReplyRequest:
        """The request for a reply to ``history``, or for more of the last one; the system prompt is put before it."""
        system = (Message(role="system", content=self.system),) if self.system else ()
        return ReplyRequest(
            messages=(*system, *history),
            sampling=self.sampling,
            max_tokens=self.max_tokens,
            speculation=self.speculation,
            continue_final_message=go_on,
        )

    def with_speculation(self, enabled: bool) -> Settings:
        """The same with speculation switched."""
        return replace(self, speculation=self.speculation.model_copy(update={"enabled": enabled}))

    def with_seed(self, seed: int | None) -> Settings:
        """The same with a fixed seed; None = a fresh one each time."""
        return replace(self, sampling=self.sampling.model_copy(update={"seed": seed}))


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``chat``."""
    chat = subparsers.add_parser("chat", help="chat in this terminal, or answer one prompt")
    add_pair_options(chat)
    chat.add_argument("--speculation", choices=("on", "off"), default="on", help="default: on")
    chat.add_argument("--rule", choices=("coupled", "rejection"), default="coupled", help="default: coupled")
    chat.add_argument("--draft-length", type=draft_length, default="auto", metavar="auto|N", help="default: auto")
    chat.add_argument("--temperature", type=temperature, metavar="T", help="0 is greedy (default: the model's)")
    chat.add_argument(
        "--seed", type=whole(0, 2**63 - 1), metavar="N", help="the same seed gives the same text, but for near-ties"
    )
    chat.add_argument("--max-tokens", type=whole(1), metavar="N", help="longest reply")
    chat.add_argument("--system", metavar="TEXT", default="", help="system prompt")
    chat.add_argument("--json", action="store_true", help="print one JSON object with text and figures")
    chat.add_argument("prompt", nargs="?", metavar="PROMPT", help="answer this and end; '-' reads it from stdin")
    chat.set_defaults(run=run)


def draft_length(text: str) -> int | Literal["auto"]:
    """An argparse type: ``auto`` or a number of draft tokens."""
    return "auto" if text == "auto" else whole(0, 48)(text)


def run(args: argparse.Namespace) -> int:
    """The command."""
    prompt = _prompt(args)
    if prompt is None and args.json:
        raise EngineError(ErrorCode.BAD_REQUEST, "--json needs a prompt; give one as the last argument or on stdin.")
    check_typed(args.system, "The system prompt")
    choice = choose_pair(args.target, args.draft)
    settings = _settings(args, choice)
    for note in choice.notes:
        complain(note)
    # a draft that could not be used in this one reply is not loaded
    wanted = choice if prompt is None or settings.speculation.enabled else replace(choice, draft=None)
    with Session(choice.files) as session:
        request = wanted.load_request(args)
        if not (args.json or sys.stderr.isatty()):  # a terminal gets the progress itself, a program wants neither
            complain(f"Loading {request.target}…")
        state = session.load(request, insist=wanted.draft_named)
        if prompt is None:
            from backend.cli_loop import Loop

            return Loop(session, request, state, settings, drafting=choice.drafting).run()
        return _answer(session, settings, prompt, state if args.json else None)


def _answer(session: Session, settings: Settings, prompt: str, as_json: State | None) -> int:
    written = ""

    def write(text: str) -> None:
        nonlocal written
        written = text or written
        (_silent if as_json else show)(text)

    try:
        text, end = ask(session, settings.request([Message(role="user", content=prompt)]), write)
    finally:  # also before an error's sentence
        if written and not as_json and not written.endswith("\n"):
            print()
        sys.stdout.flush()
    if as_json:
        print(json.dumps(_record(text, end, settings, as_json), ensure_ascii=False))
    else:
        print(status_line(end), file=sys.stderr)
    return _INTERRUPTED if end.reason == "cancelled" else 0


def ask(session: Session, request: ReplyRequest, write: Callable[[str], None]) -> tuple[str, Finished]:
    """One reply, written as it comes; Ctrl-C ends it where it is. Its text and its end."""
    job = new_job()

    async def work() -> tuple[str, Finished]:
        pieces: list[str] = []
        async for event in session.client.reply(request, job):
            if isinstance(event, Delta):
                pieces.append(event.text)
                write(event.text)
            elif isinstance(event, Finished):
                return "".join(pieces), event
        raise EngineError(ErrorCode.PROTOCOL_MISMATCH, "The engine ended a reply without saying how.")

    return session.run(work(), lambda: session.client.cancel(job))


def _prompt(args: argparse.Namespace) -> str | None:
    """The prompt of the command line or of a pipe; None = a conversation."""
    given: str | None = args.prompt
    if given is None and sys.stdin is not None and sys.stdin.isatty():
        return None
    if given is None or given == "-":
        given = _read_stdin()
    check_typed(given, "The prompt")
    if not given.strip():
        raise EngineError(ErrorCode.BAD_REQUEST, "The prompt is empty; write something to answer.")
    return given


def _read_stdin() -> str:
    if sys.stdin is None:
        return ""
    raw = sys.stdin.buffer.read()
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise EngineError(
            ErrorCode.BAD_REQUEST,
            f"The prompt on stdin is not valid UTF-8 (byte {error.start}); convert it first.",
            {"byte": error.start},
        ) from None


def _settings(args: argparse.Namespace, choice: PairChoice) -> Settings:
    own = {"temperature": args.temperature, "seed": args.seed}
    sampling = choice.sampling.model_copy(update={name: value for name, value in own.items() if value is not None})
    speculation = Speculation(
        enabled=args.speculation == "on" and choice.drafting, length=args.draft_length, rule=args.rule
    )
    return Settings(sampling, speculation, args.max_tokens, args.system)


def _record(text: str, end: Finished, settings: Settings, state: State) -> dict[str, object]:
    t = end.timings
    figures = {
        "tokens_per_second": t.tokens_per_second,
        "speedup_estimate": t.speedup,
        "acceptance": t.acceptance,
        "tokens_per_pass": t.tokens_per_pass,
    }
    return {
        "text": text,
        "finish_reason": end.reason,
        "note": end.note,
        "target": state.target.id if state.target else None,
        "draft": state.draft.id if state.draft else None,
        "speculation": settings.speculation.model_dump(),
        "sampling": settings.sampling.model_dump() | {"seed": end.seed},
        "seed": end.seed,
        "start": end.start,
        "ids": list(end.ids),
        "tokenizer": end.tokenizer,
        "timings": asdict(t),
        "figures": figures,
    }


def show(text: str) -> None:
    """A piece of a reply; a terminal gets no control characters of a model's making, a pipe every byte."""
    print(harmless(text) if sys.stdout.isatty() else text, end="", flush=True)


def _silent(_text: str) -> None:
    pass
