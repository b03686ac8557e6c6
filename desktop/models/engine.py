"""What the window wants of the engine: target, draft, switch, and the engine for itself for a while."""

from __future__ import annotations

from pathlib import Path

from backend.errors import EngineError, ErrorCode
from backend.protocol import LoadOptions, Speculation
from desktop.language import tr
from desktop.models.wanted import speculation_of
from desktop.models.wishes import Borrower, Wishes
from desktop.settings import AUTOMATIC, NONE, ModelChoices


class Engine(Wishes):
    """Turns choices into wishes. Choices are kept in the settings; what is shown comes from the engine's state."""

    @property
    def reloads(self) -> str:
        """The target that :meth:`reload` loads: that one, or the one that could not be loaded; empty = none."""
        return self.target or self._failed

    def start(self, *, load: bool) -> None:
        """Start the worker; with ``load`` also the last pair."""
        self._bridge.start()
        self._bridge.set_speculation(speculation_of(self._settings.now))
        self.drafts_changed.emit([])  # the choices without a draft model are there from the start
        if load and self._settings.now.target:
            self._want(self._settings.now.target)
        else:
            self.refresh_drafts()

    def choose_target(self, target: str) -> None:
        """Load ``target`` with the draft that the settings ask for, unless it is there or on its way already."""
        if target != self.target:
            self._want(target)

    def choose_draft(self, choice: str) -> None:
        """A model's id, or automatic, lookup, none. The target and a running reply are not interrupted."""
        enabled = choice != NONE
        speculation = self._settings.now.speculation.model_copy(update={"enabled": enabled})
        self._settings.change(draft=choice, speculation=speculation)
        self.changed.emit()
        self._bridge.set_speculation(speculation_of(self._settings.now))
        self._swap_again()

    def set_enabled(self, enabled: bool) -> None:
        """The switch: from the next round."""
        if enabled and self._settings.now.draft == NONE:
            self.choose_draft(AUTOMATIC)
            return
        speculation = self._settings.now.speculation.model_copy(update={"enabled": enabled})
        self._settings.change(speculation=speculation)
        self.changed.emit()
        self._bridge.set_speculation(speculation_of(self._settings.now))

    def set_speculation(self, settings: Speculation) -> None:
        """Draft length and rule: from the next round."""
        self._settings.change(speculation=settings)
        self._bridge.set_speculation(speculation_of(self._settings.now))

    def set_load_options(self, options: LoadOptions, models: dict[str, ModelChoices] | None = None) -> None:
        """How models are loaded; the pair is loaded again where that makes a difference to it.

        Args:
            options: of all targets.
            models: what single targets have of their own; None = as before.
        """
        target = self.reloads
        before = self._settings.now.load_for(target)
        self._settings.change(load=options, models=self._settings.now.models if models is None else models)
        if before != self._settings.now.load_for(target):
            self.reload()

    def lend(self, to: Borrower) -> None:
        """Let nothing else use it, until :meth:`take_back`."""
        self.lent = to
        self._bridge.hold_replies()
        self.changed.emit()

    def try_drafts(self, chats: Path) -> str:
        """Judge the drafts that fit by the replies in the chats, the one in use first; until :meth:`take_back`.

        Returns:
            The job; empty when there is no draft to try.
        """
        target, used = self.state.target, [self.state.draft.id] if self.state.draft else []
        known = self.drafts if target is not None and self.drafts_of == target.id else []
        drafts = used + [c.model.id for c in known if c.ready and c.model.id not in used]
        if not drafts:
            return ""
        self._draft_unsure = True
        self.lend("trial")
        return self._bridge.try_drafts(drafts, chats)

    def take_back(self, *, chosen: str = "", orderly: bool = False) -> None:
        """Go on after a trial or a benchmark: with another draft, by default with the one from before.

        Args:
            chosen: that draft.
            orderly: no exchange of drafts was broken off, so that the state says which one is in use.
        """
        self.lent = None
        self._draft_unsure = self._draft_unsure and not orderly
        if self._wanted is None:
            self._bridge.release_replies()
        if chosen:
            self.choose_draft(chosen)
        else:
            self._swap_again()
            self.changed.emit()

    def reconsider(self) -> None:
        """Pairs have shown something: "Automatic" may come to another draft."""
        if self._settings.now.draft == AUTOMATIC:
            self._swap_again()

    def reload(self) -> None:
        """Load the pair again, or try once more what could not be loaded."""
        if target := self.reloads:
            self._want(target)

    def restart(self) -> None:
        """A fresh worker with the last pair."""
        self._renew()
        if self._settings.now.target:
            self._want(self._settings.now.target)

    def cancel_load(self) -> None:
        """Want nothing; what is loaded then is what the state says."""
        if self._wanted is not None:
            self._drop()
            self._settle(EngineError(ErrorCode.CANCELLED, tr("Stopped.")))
