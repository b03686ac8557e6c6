"""Replies token by token, on or off for all of them, and the rounds that a person looks into."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject

from desktop.bridge import EngineBridge
from desktop.language import marked, tr
from desktop.models.parts import tokenizer_at
from desktop.settings import SettingsFile
from desktop.store import Message
from desktop.widgets.message_view import MessageView
from desktop.widgets.round_table import round_rows, round_title

_FIRST = marked("The prompt's own token: it came with reading the prompt, without a pass of its own.")
_GONE = marked("This round is not kept: of very long replies only the last rounds are.")
_UNKNOWN = marked("Nothing is known of this round: the engine did not tell, or what was kept of it is damaged.")


class Origins(QObject):
    """Binds the conversation's view to the engine that knows what tokens stand for."""

    def __init__(self, messages: MessageView, bridge: EngineBridge, settings: SettingsFile) -> None:
        super().__init__(messages)
        self._messages, self._bridge, self._settings = messages, bridge, settings
        self._asked: tuple[str, int, dict[str, Any], str | None, list[int]] | None = None
        """The last question: its job, and what it was about."""
        messages.round_picked.connect(self._picked)
        self._show()
        bridge.pieces.connect(self._answered)

    def toggle(self) -> None:
        """The other way round, now and in all chats."""
        self._settings.change(origins=not self._settings.now.origins)
        self._show()

    def _show(self) -> None:
        shown = self._settings.now.origins
        self._messages.show_origins(shown)
        self._bridge.probabilities = shown  # of replies from now on: only who looks at tokens pays for them

    def _picked(self, message: Message, number: int) -> None:
        self._asked = None
        record = next((r for r in message.rounds if r.get("round") == number), None)
        if record is None:
            kept = [n for r in message.rounds if isinstance(n := r.get("round"), int)]
            self._messages.show_round(message.id, tr(_GONE if kept and number < min(kept) else _UNKNOWN), [])
            return
        begins = {0, *(part.get("rounds") for part in message.parts)}
        if number in begins and not record.get("proposed"):
            self._messages.show_round(message.id, tr(_FIRST), [])
            return
        self._messages.show_round(message.id, round_title(record), round_rows(record, {}))
        ids = sorted({*(record.get("proposed") or ()), *(record.get("targets") or ())})
        if ids:
            self._asked = (self._bridge.ask_pieces(ids), message.id, record, tokenizer_at(message, number), ids)

    def _answered(self, job: str, answer: tuple[str, list[str]]) -> None:
        if self._asked is None or self._asked[0] != job:
            return
        _, message, record, tokenizer, ids = self._asked
        if answer[0] == tokenizer:  # else another model is loaded by now: the numbers stay
            rows = round_rows(record, dict(zip(ids, answer[1], strict=False)))
            self._messages.show_round(message, round_title(record), rows)
