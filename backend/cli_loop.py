"""The conversation of ``tandem chat`` in a terminal: messages, commands that begin with a slash, a line of figures."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable

from backend.cli_chat import Settings, ask, show
from backend.cli_figures import stats, status_line
from backend.cli_pair import NO_DRAFT, is_path
from backend.cli_session import Session
from backend.errors import EngineError, ErrorCode
from backend.library.library import Library
from backend.protocol import Finished, LoadRequest, Message, State
from backend.text import check_typed, harmless

_HALF = "\ufffd"
_HELP = """\
/draft ID|lookup|none   another draft, or prompt lookup, or none
/speculation on|off     from the next reply on
/seed N|random          the same seed gives the same text, with speculation on or off
                        (but for near-ties; begun with --strict to the bit)
/continue               go on with the last reply where it ends
/stats                  where the time of the last reply went
/new                    forget the conversation
/quit                   leave (Ctrl-C stops a reply; at the prompt it leaves)"""


class Loop:
    """One conversation.

    Args:
        session: with the pair loaded.
        request: what loaded it, for a new worker should this one die.
        state: the worker's, after the load.
        settings: of the replies.
        drafting: False when it began with ``--draft none``.
    """

    def __init__(
        self, session: Session, request: LoadRequest, state: State, settings: Settings, *, drafting: bool = True
    ) -> None:
        self._session = session
        self._request = request
        self._state = state
        self._settings = settings
        self._wanted = settings.speculation.enabled or not drafting
        """What /speculation said last; /draft none switches off without changing it."""
        self._history: list[Message] = []
        self._last: Finished | None = None
        self._seed_used: int | None = None
        """The last reply's; None where the engine did not live to tell it."""
        self._lost = False
        self._commands: dict[str, Callable[[str], None]] = {
            "/draft": self._draft,
            "/speculation": self._speculation,
            "/seed": self._seed,
            "/continue": self._continue,
            "/stats": self._stats,
            "/new": self._new,
            "/help": self._help,
        }

    def run(self) -> int:
        """Until /quit, the end of the input, or Ctrl-C at the prompt."""
        with contextlib.suppress(ImportError):
            import readline  # noqa: F401 - editing and history in input()
        self._greet()
        while True:
            try:
                line = input("› ").strip()
            except (EOFError, KeyboardInterrupt):
                print()
                return 0
            if line in ("/quit", "/exit"):
                return 0
            if line:
                self._one(line)

    def _one(self, line: str) -> None:
        try:
            check_typed(line, "The line")
            if not line.startswith("/"):
                self._say(line)
                return
            name, _, rest = line.partition(" ")
            command = self._commands.get(name)
            if command is None:
                _note(f"{name} is not a command; /help lists them.")
            else:
                command(rest.strip())
        except EngineError as error:
            _note(error.message)
            if error.code is ErrorCode.WORKER_GONE:
                self._lost = True
                _note("The engine starts again with your next message; what was said is kept.")

    def _say(self, line: str) -> None:
        before = list(self._history)
        self._ask(line)
        said, write = _noting()
        try:
            if self._lost:
                self._restart()
            text, end = self._answered(write, said)
        except EngineError as error:
            print()
            if said:
                self._history.append(Message(role="assistant", content="".join(said)))
                self._seed_used = None
            elif error.code is not ErrorCode.WORKER_GONE and not self._lost:
                self._history = before  # it cannot be answered, and would stand in the way of every other
            raise
        self._ended(text, end)
        if text:
            self._history.append(_reply(text, end))
        elif end.reason == "cancelled":
            self._history = before

    def _ended(self, text: str, end: Finished) -> None:
        print()
        _note(status_line(end))
        self._last = end
        if text:
            self._seed_used = end.seed

    def _continue(self, _rest: str) -> None:
        if (begun := self._begun()) is None:
            _note("There is no reply to go on with.")
            return
        settings = self._settings if self._seed_used is None else self._settings.with_seed(self._seed_used)
        said, write = _noting()
        try:
            if self._lost:
                self._restart()
            text, end = ask(self._session, settings.request([*self._history[:-1], begun], go_on=True), write)
        except EngineError:
            print()
            if said:
                self._history[-1] = Message(role="assistant", content=begun.content + "".join(said))
                self._seed_used = None
            raise
        self._ended(text, end)
        if text:
            self._history[-1] = _reply(begun.content + text, end)
        elif end.reason == "stop":
            _note("The model has nothing to add.")

    def _begun(self) -> Message | None:
        """The last reply, as it can go on."""
        last = self._history[-1] if self._history else None
        if last is None or last.role != "assistant":
            return None
        if last.content.endswith(_HALF):  # of a character: it is written anew, after the text before it
            last = Message(role="assistant", content=last.content.removesuffix(_HALF))
        return last if last.content else None

    def _answered(self, write: Callable[[str], None], said: list[str]) -> tuple[str, Finished]:
        """The reply; an engine that was found dead before its first word is started again, once."""
        try:
            return ask(self._session, self._settings.request(self._history), write)
        except EngineError as error:
            if error.code is not ErrorCode.WORKER_GONE or said:
                raise
            _note(error.message)
            _note("The engine starts again, and your message is asked once more.")
        self._restart()
        return ask(self._session, self._settings.request(self._history), write)

    def _restart(self) -> None:
        self._lost = True  # until it is loaded, whatever comes between
        self._session.restart()
        self._state, self._lost = self._session.load(self._request), False

    def _ask(self, line: str) -> None:
        """Add a question; one without an answer is asked with it, as templates want turns to alternate."""
        if self._history and self._history[-1].role == "user":
            line = f"{self._history.pop().content}\n\n{line}"
        self._history.append(Message(role="user", content=line))

    def _greet(self) -> None:
        target, draft = self._state.target, self._state.draft
        if target is not None:
            ahead = f"{draft.name} drafts" if draft is not None else "prompt lookup drafts"
            if not self._settings.speculation.enabled:
                ahead = "speculation is off" + ("" if self._wanted else " (/speculation on)")
            _note(f"{target.name} answers, {ahead}. Context {target.n_ctx:,} tokens. /help lists the commands.")
            if target.template_note:
                _note(target.template_note)

    def _draft(self, name: str) -> None:
        if not name:
            _note("Name a draft: an id of 'tandem models list', lookup or none.")
            return
        wanted = None if name in NO_DRAFT else name
        if wanted is not None and wanted not in self._session.files:
            self._check(wanted)
        self._state = self._session.set_draft(wanted)
        self._request = self._request.model_copy(update={"draft": wanted})
        self._settings = self._settings.with_speculation(self._wanted and name != "none")
        self._greet()

    def _check(self, name: str) -> None:
        if is_path(name):
            raise EngineError(
                ErrorCode.BAD_REQUEST,
                "A file can only be named when the chat starts (--draft PATH); or add it with 'tandem models add'.",
            )
        Library().resolve(name)  # near matches, and how to get what is not here

    def _speculation(self, word: str) -> None:
        if word not in ("on", "off"):
            _note("Write /speculation on or /speculation off.")
            return
        self._wanted = word == "on"
        self._settings = self._settings.with_speculation(self._wanted)
        _note(f"Speculation is {word}.")

    def _seed(self, word: str) -> None:
        if word == "random":
            self._settings = self._settings.with_seed(None)
            _note("A fresh seed for each reply.")
        elif word.isdecimal() and len(word) < 20 and int(word) < 2**63:
            self._settings = self._settings.with_seed(int(word))
            _note(f"Seed {int(word)} for each reply.")
        else:
            _note("Write /seed and a whole number from 0 to 2^63 - 1, or /seed random.")

    def _stats(self, _rest: str) -> None:
        if self._last is None:
            _note("There is no reply yet.")
            return
        for line in stats(self._last.timings):
            _note(line)
        _note(f"seed         {self._last.seed}")

    def _new(self, _rest: str) -> None:
        self._history.clear()
        _note("A new conversation.")

    def _help(self, _rest: str) -> None:
        _note(_HELP)


def _noting() -> tuple[list[str], Callable[[str], None]]:
    """What was said so far, and what shows and notes more of it."""
    said: list[str] = []

    def write(text: str) -> None:
        said.append(text)
        show(text)

    return said, write


def _reply(text: str, end: Finished) -> Message:
    """A reply with its tokens, those that it went on from among them."""
    ids = (*end.prefix, *end.ids) or None
    return Message(role="assistant", content=text, x_ids=ids, x_tokenizer=end.tokenizer or None)


def _note(text: str) -> None:
    print(harmless(text), file=sys.stderr, flush=True)
