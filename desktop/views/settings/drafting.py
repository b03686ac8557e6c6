"""How drafts are made, for all chats: counts at once, also in a reply that is being written."""

from __future__ import annotations

from backend.protocol import State
from desktop.language import marked, tr
from desktop.models.engine import Engine
from desktop.settings import SettingsFile
from desktop.views.settings.marked_choice import marked_choice
from desktop.views.settings.numbers import LENGTH
from desktop.widgets.field import NumberField
from desktop.widgets.form import Form
from desktop.widgets.later import Later

_BESIDE = (
    (marked("Only the draft model"), "draft"),
    (marked("Text seen before, where it fits; else the model"), "lookup+draft"),
)
_RULES = ((marked("Coupled: a seed keeps its text"), "coupled"), (marked("Rejection sampling"), "rejection"))
_SOURCE = marked(
    "Where drafts come from is chosen in the draft list at the top of the window, on or off by the switch beside it."
)
_COUPLED = marked(
    "Both give the target's own law. Coupled, the same seed gives the same text with drafts and without, but for "
    "near-ties. Default: coupled."
)


class Drafting:
    """Rows of the engine's page."""

    def __init__(self, page: Form, settings: SettingsFile, engine: Engine) -> None:
        self._settings, self._engine = settings, engine
        now = settings.now.speculation
        self.length = NumberField(LENGTH)
        length = None if now.length == "auto" else now.length
        says = tr("Default: automatic, whatever pays by the costs measured on this machine.")
        self.length.set_value(length, None, empty=tr("Automatic"), tail=says)
        self.later = Later(page, self._keep)
        self.length.changed.connect(self.later.start)
        self.rule = marked_choice(_RULES, now.rule)
        self.beside = marked_choice(_BESIDE, now.source if now.source == "lookup+draft" else "draft")
        for box in (self.rule, self.beside):
            box.activated.connect(lambda _: self._keep())
        page.heading(tr("Drafting, in all chats"))
        page.note(tr(_SOURCE))
        page.row(tr(LENGTH.label), self.length)
        says = tr("What else may propose. Default: only the draft model.")
        page.row(tr("With a chosen draft model"), self.beside, says)
        page.row(tr("Acceptance rule"), self.rule, tr(_COUPLED))
        page.note(tr("These count at once, also in a reply that is being written.") + _limit(engine.state))

    def _keep(self) -> None:
        now, length = self._settings.now.speculation, self.length.value
        typed = "auto" if length is None else int(length)
        new = now.model_copy(
            update={
                "length": now.length if self.length.problem else typed,
                "rule": self.rule.currentData(),
                "source": "lookup+draft" if self.beside.currentData() == "lookup+draft" else "auto",
            }
        )
        if new != now:
            self._engine.set_speculation(new)


def _limit(state: State) -> str:
    limit = state.target.truncate_note if state.target is not None else ""
    return f" {limit[0].upper()}{limit[1:].rstrip('.')}." if limit else ""
