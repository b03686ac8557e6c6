"""The page of the engine: drafting, which counts at once, and loading, which is applied and loads the models again."""

from __future__ import annotations

from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from desktop.language import marked, tr
from desktop.models.engine import Engine
from desktop.models.shelf import Shelf
from desktop.settings import SettingsFile
from desktop.views.settings.drafting import Drafting
from desktop.views.settings.loading import Loading
from desktop.views.settings.preset_use import models
from desktop.widgets.form import Form, quiet

_WHERE = marked(
    "Here: what holds for all chats, and for single models their context and layers. Each chat has its own system "
    "prompt, preset, values, seed, longest reply and thinking: in the chat settings."
)


class EnginePage(QWidget):
    """The form, and below it what is not applied yet."""

    def __init__(self, settings: SettingsFile, engine: Engine, shelf: Shelf) -> None:
        super().__init__()
        self._settings, self._engine = settings, engine
        self.form = Form()
        self.form.note(tr(_WHERE))
        self.drafting = Drafting(self.form, settings, engine)
        target = engine.target or settings.now.target
        self.loading = Loading(self.form, settings.now, engine.state, models(shelf, settings, target))
        self.loading.changed.connect(self._show)
        self._words = quiet("")
        self.discard_ = QPushButton(tr("Discard"))
        self.discard_.clicked.connect(self.discard)
        self.apply_ = QPushButton()
        self.apply_.setProperty("primary", True)
        self.apply_.clicked.connect(self.apply)
        self._bar = QFrame()
        self._bar.setObjectName("pending")
        below = QVBoxLayout(self._bar)
        below.addWidget(self._words)
        row = QHBoxLayout()
        row.addStretch(1)
        row.addWidget(self.discard_)
        row.addWidget(self.apply_)
        below.addLayout(row)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.form, 1)
        layout.addWidget(self._bar)
        engine.changed.connect(self._show)
        self._show()

    @property
    def pending(self) -> bool:
        """Whether something is chosen that is not applied."""
        return self.loading.differs(self._settings.now)

    @property
    def problem(self) -> str:
        """Why it cannot be applied as it is; empty = it can."""
        return self.loading.problem

    def apply(self) -> None:
        """Apply it, and load again what it makes a difference to."""
        if not self.problem:
            self._engine.set_load_options(*self.loading.chosen(self._settings.now))
            self._show()

    def discard(self) -> None:
        """What holds."""
        self.loading.show_settings(self._settings.now)
        self._show()

    def finish(self) -> None:
        """Keep what was typed last of what counts at once."""
        self.drafting.later.now()

    def _show(self) -> None:
        again = self._loads_again()
        self.apply_.setText(tr("Apply and load again") if again else tr("Apply"))
        self.apply_.setEnabled(not self.problem)
        self._words.setText(self.problem or self._says(again=again))
        self._bar.setVisible(self.pending or bool(self.problem))

    def _loads_again(self) -> bool:
        target, now = self._engine.reloads, self._settings.now
        options, own = self.loading.chosen(now)
        after = now.model_copy(update={"load": options, "models": own})
        return bool(target) and after.load_for(target) != now.load_for(target)

    def _says(self, *, again: bool) -> str:
        if not again:
            return tr("Not applied yet. It counts from the next time that a model is loaded.")
        name = self._engine.state.target.name if self._engine.state.target is not None else self._engine.reloads
        return tr(
            "Not applied yet. Applying loads {model} again; a reply that is being written ends first.", model=name
        )
