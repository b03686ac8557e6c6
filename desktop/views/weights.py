"""Tokens on the chips: counted by the loaded model's tokenizer, an estimate until then."""

from __future__ import annotations

from PySide6.QtCore import QObject
from shiboken6 import isValid

from desktop.bridge import EngineBridge
from desktop.models.engine import Engine
from desktop.widgets.chips import Chip, Chips


class Weights(QObject):
    """Asks anew when something is attached, and when another tokenizer is there."""

    def __init__(self, chips: Chips, bridge: EngineBridge, engine: Engine) -> None:
        super().__init__(chips)
        self._chips, self._bridge, self._engine = chips, bridge, engine
        self._asked: dict[str, tuple[Chip, str]] = {}
        chips.changed.connect(self._ask)
        engine.changed.connect(self._ask)
        bridge.weighed.connect(self._weighed)

    def _ask(self) -> None:
        target = self._engine.state.target
        if target is None:
            self._asked.clear()  # nobody will answer
            return
        due = {id(chip) for chip, vocabulary in self._asked.values() if vocabulary == target.tokenizer}
        for chip in self._chips.chips:
            if chip.attachment is not None and chip.weighed != target.tokenizer and id(chip) not in due:
                self._asked[self._bridge.weigh(chip.attachment)] = chip, target.tokenizer

    def _weighed(self, job: str, tokens: int) -> None:
        chip, vocabulary = self._asked.pop(job, (None, ""))
        if chip is not None and isValid(chip):
            chip.show_tokens(tokens, vocabulary)
