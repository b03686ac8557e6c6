"""What is loaded, what is wanted, and what comes of that: the pair, its draft, the worker itself.

Nobody chooses here: that is ``engine``'s.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import Any, Literal

from PySide6.QtCore import QObject, Signal

from backend.errors import EngineError, ErrorCode
from backend.protocol import DraftRequest, LoadProgress, LoadRequest, State
from desktop.bridge import EngineBridge
from desktop.language import tr
from desktop.models.nearest import as_it_fits, too_large
from desktop.models.ranking import Ranking, Speedup
from desktop.models.shelf import Shelf
from desktop.models.wanted import Wanted, draft_of, speculation_of
from desktop.settings import AUTOMATIC, SettingsFile
from desktop.words import Notice, notice

log = logging.getLogger(__name__)
Mode = Literal["starting", "up", "loading", "lost"]
Borrower = Literal["trial", "benchmark"]


class Wishes(QObject):
    """Turns wishes into requests, one at a time.

    Three facts decide everything: ``state`` (what is loaded, from the worker), what is wanted (at most one pair or
    draft; a new wish gives the old one up), and whether the worker lives. What the window names and says follows.
    """

    changed = Signal()
    """``state``, ``mode``, ``target`` or ``progress`` changed."""
    drafts_changed = Signal(object)
    noticed = Signal(object)
    withdrawn = Signal(object)
    """A notice that was true when it was given: what could not be loaded is there, or something else is."""

    def __init__(
        self, bridge: EngineBridge, shelf: Shelf, settings: SettingsFile, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._bridge = bridge
        self._shelf = shelf
        self._settings = settings
        self.state = State()
        self.drafts: list[Any] = []
        self.drafts_of = ""
        """The target that ``drafts`` were looked up for."""
        self.speedup: Speedup = lambda _target, _draft: None
        """What pairs have shown here."""
        self._failed = ""
        """The target that was wanted last and could not be loaded."""
        self._complaint: Notice | None = None
        """What was said of that, or of a draft."""
        self._worker: Literal["starting", "up", "lost"] = "starting"
        self._wanted: Wanted | None = None
        self._draft_is_due = False
        """The draft in use may not be the chosen one."""
        self._asked = ""
        self.lent: Borrower | None = None
        """Who has the engine to itself: replies wait, and no draft is exchanged on a person's behalf."""
        self._draft_unsure = False
        """Whether the state may not say which draft is in use: a trial broke off while it exchanged them."""
        bridge.state_changed.connect(self._on_state)
        bridge.lost.connect(self._on_lost)
        bridge.loading.connect(self._on_loading)
        bridge.loaded.connect(self._on_loaded)
        bridge.failed.connect(self._on_failed)
        shelf.engine_state = lambda: self.state
        shelf.drafts.connect(self._on_drafts)
        shelf.drafts_failed.connect(self._on_drafts_failed)

    @property
    def busy(self) -> bool:
        """Whether a pair or a draft is being loaded."""
        return self._wanted is not None

    @property
    def mode(self) -> Mode:
        """What the engine is about."""
        return "loading" if self._pair_wanted else self._worker

    @property
    def target(self) -> str | None:
        """The target to name: the one that is on its way, else the one that answers."""
        if self._wanted is not None:
            return self._wanted.target
        return self.state.target.id if self.state.target else None

    @property
    def progress(self) -> LoadProgress | None:
        """How far what is wanted has come."""
        return self._wanted.progress if self._wanted else None

    @property
    def ranking(self) -> Ranking:
        """Of ``drafts``."""
        return Ranking(self.drafts_of, self._shelf.pairs.get(self.drafts_of, {}), self.speedup)

    @property
    def _pair_wanted(self) -> bool:
        return self._wanted is not None and not self._wanted.swap

    def refresh_drafts(self) -> None:
        """Look again which drafts fit the target, or the last one while there is none."""
        if target := self.target or self._settings.now.target:
            self._asked = target
            self._shelf.ask_drafts(target)

    # -- one wish at a time ---------------------------------------------------------------------------------------

    def _want(self, target: str, *, anyway: bool = False) -> None:
        if self._worker == "lost":
            self._renew()
        self._drop()
        self._wanted = Wanted(target, anyway=anyway)
        self._draft_is_due = True
        self._failed = ""
        self._bridge.hold_replies()
        self.changed.emit()
        self.refresh_drafts()

    def _swap(self) -> None:
        """Exchange the draft as soon as its target is there and, for "automatic", what fits it is known."""
        target, wanted, now = self.state.target, self._wanted, self._settings.now
        unknown = now.draft == AUTOMATIC and (target is None or target.id != self.drafts_of)
        if not self._draft_is_due or target is None or self._pair_wanted or unknown or self.lent:
            return
        self._draft_is_due = False
        draft = self._draft_id()
        used = self.state.draft.id if self.state.draft else None
        if draft == (wanted.draft if wanted else used) and not self._draft_unsure:
            return
        self._draft_unsure = False
        self._drop()
        self._wanted = Wanted(target.id, draft, swap=True, job=self._bridge.set_draft(DraftRequest(draft=draft)))
        self.changed.emit()

    def _swap_again(self) -> None:
        self._draft_is_due = True
        self._swap()

    def _drop(self) -> None:
        if self._wanted is not None and self._wanted.job:
            self._bridge.cancel(self._wanted.job)
        self._wanted = None

    def _settle(self, error: EngineError | None = None) -> None:
        """Nothing is wanted any more: what waited for it goes on, or ends with the reason why it did not come."""
        self._wanted = None
        self._bridge.release_replies(error)
        self.changed.emit()
        self._follow()

    def _follow(self) -> None:
        """The drafts on offer are those of the target that is named."""
        if (self.target or self._settings.now.target or "") != self._asked:
            self.refresh_drafts()
        else:
            self._swap()

    def _renew(self) -> None:
        """Another worker; the old one's jobs end with it."""
        self._wanted = None
        self._worker, self.state = "starting", State()
        self._bridge.release_replies(EngineError(ErrorCode.CANCELLED, tr("Stopped.")))
        self._bridge.restart()
        self._bridge.set_speculation(speculation_of(self._settings.now))
        self.changed.emit()

    # -- what comes back ------------------------------------------------------------------------------------------

    def _on_state(self, state: State) -> None:
        before, self.state, self._worker = self.state, state, "up"
        if state.draft_note and state.draft_note != before.draft_note and self.lent != "trial":
            self.noticed.emit(Notice(tr("The draft model is not in use"), state.draft_note, mild=True))
        self.changed.emit()
        if (state.target and state.target.id) != (before.target and before.target.id):
            self._follow()

    def _on_lost(self, error: EngineError) -> None:
        self._worker, self.state = "lost", State()
        self._settle(error)
        self.noticed.emit(notice(error))

    def _on_loading(self, job: str, progress: LoadProgress) -> None:
        if self._wanted is not None and job == self._wanted.job:
            self._wanted.progress = progress
            self.changed.emit()

    def _on_loaded(self, job: str, state: State) -> None:
        wanted = self._wanted
        if wanted is None or job != wanted.job:
            return
        self.state, self._draft_unsure = state, False
        if self._complaint is not None:
            self.withdrawn.emit(self._complaint)
            self._complaint = None
        if not wanted.swap:  # only what has been loaded once is loaded by itself at the next start
            self._settings.change(target=wanted.target)
            self._draft_is_due = self._draft_id() != wanted.draft
        self._settle()

    def _on_failed(self, job: str, error: EngineError) -> None:
        wanted = self._wanted
        if wanted is None or job != wanted.job:
            return
        if error.code in (ErrorCode.WORKER_GONE, ErrorCode.WORKER_START_FAILED):
            self._on_lost(error)
            return
        if error.code != ErrorCode.CANCELLED:
            self._keep_failure(wanted, error)
        self._settle(error)

    def _keep_failure(self, wanted: Wanted, error: EngineError) -> None:
        if not wanted.swap:
            self._failed = wanted.target
        if error.code is ErrorCode.TOO_LARGE and not wanted.swap:
            anyway = partial(self._want, wanted.target, anyway=True)
            self._complaint = too_large(error, anyway, partial(self._want_nearest, wanted.target, error))
        else:
            again = self._swap_again if wanted.swap else partial(self._want, wanted.target)
            self._complaint = notice(error, retry=again)
        self.noticed.emit(self._complaint)

    def _want_nearest(self, target: str, error: EngineError) -> None:
        """The plan that was named when ``target`` was refused."""
        self._settings.change(**as_it_fits(self._settings.now, target, error))
        self._bridge.set_speculation(speculation_of(self._settings.now))
        self._want(target)

    def _on_drafts(self, target: str, choices: list[Any]) -> None:
        if target == self._asked:
            before = self._draft_id()
            self.drafts, self.drafts_of = choices, target
            self._draft_is_due = self._draft_is_due or self._draft_id() != before
            self.drafts_changed.emit(choices)
            if (wanted := self._held_back(target)) is not None:
                wanted.draft = self._draft_id()
                options, anyway = self._settings.now.load_for(target), wanted.anyway
                request = LoadRequest(target=target, draft=wanted.draft, options=options, anyway=anyway)
                wanted.job = self._bridge.load(request)
            self._swap()

    def _on_drafts_failed(self, target: str, error: EngineError) -> None:
        if (wanted := self._held_back(target)) is not None:
            self._keep_failure(wanted, error)
            self._settle(error)
        else:
            log.warning("no drafts for %s: %s", target, error)
            self._on_drafts(target, [])

    def _held_back(self, target: str) -> Wanted | None:
        wanted = self._wanted
        return wanted if wanted is not None and wanted.held_back and wanted.target == target else None

    def _draft_id(self) -> str | None:
        return draft_of(self._settings.now.draft, self.ranking.best(self.drafts))
