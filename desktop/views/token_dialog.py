"""The token for models whose licence must be accepted: entered, tested, forgotten, and where it is kept."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QLabel, QLineEdit, QVBoxLayout, QWidget

from backend.library.hub import TOKENS
from desktop.language import marked, tr
from desktop.views.model_detail import text

_PLACES = {
    "": marked(
        "There is none. Without one, models whose licence must be accepted first cannot be downloaded; all others can."
    ),
    "keyring": marked("There is one. It lies in this system's keyring."),
    "run": marked("There is one, for as long as Tandem runs: this system has no keyring that keeps it."),
    "surroundings": marked("The one of the hub's own programs is used (HF_TOKEN, or 'hf auth login')."),
}


class TokenDialog(QDialog):
    """Emits ``kept`` with a token; empty = the one that is kept is to be forgotten."""

    kept = Signal(str)
    tried = Signal(str)
    """A token is to be tested; empty = the one that is kept."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._kept = self._asking = False
        self.setWindowTitle(tr("Token for the model hub"))
        page = f'<a href="{TOKENS}">{TOKENS.removeprefix("https://")}</a>'
        why = QLabel(
            tr(
                "Some publishers give a model only to people who accepted its licence on its page. The token shows the "
                "hub that you are one of them. Make one that may read, at {page}. It is sent to the hub alone, only "
                "for such models and to test it.",
                page=page,
            )
        )
        why.setTextFormat(Qt.TextFormat.RichText)
        why.setWordWrap(True)
        why.setOpenExternalLinks(True)
        why.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self.place = text("subtle")
        self.field = QLineEdit()
        self.field.setObjectName("field")
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.field.setAccessibleName(tr("Token"))
        self.field.setPlaceholderText("hf_…")
        self.answer = text("subtle")
        self.answer.hide()
        self.buttons = QDialogButtonBox()
        self.keep = self.buttons.addButton(tr("Keep"), QDialogButtonBox.ButtonRole.AcceptRole)
        self.keep.setProperty("primary", True)
        self.keep.setEnabled(False)
        self.test = self.buttons.addButton(tr("Test"), QDialogButtonBox.ButtonRole.ActionRole)
        self.test.setToolTip(tr("Asks huggingface.co whose token it is"))
        self.test.clicked.connect(self._test)
        self.forget = self.buttons.addButton(tr("Forget the token"), QDialogButtonBox.ButtonRole.ResetRole)
        self.buttons.addButton(tr("Close"), QDialogButtonBox.ButtonRole.RejectRole)
        self.field.textChanged.connect(self._changed)
        self.buttons.accepted.connect(self._keep)
        self.buttons.rejected.connect(self.reject)
        self.forget.clicked.connect(lambda: self.kept.emit(""))
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(10)
        for part in (why, self.place, self.field, self.answer, self.buttons):
            column.addWidget(part)
        self.show_place("")
        self.setMinimumWidth(440)

    def show_place(self, place: str) -> None:
        """Where the token is kept that is there."""
        self.place.setText(tr(_PLACES[place]) if place in _PLACES else "")
        self.forget.setVisible(place in ("keyring", "run"))
        self._kept = bool(place)
        self._changed()

    def show_answer(self, words: str) -> None:
        """What the hub said of the token."""
        self._asking = False
        self.answer.setText(words)
        self._changed()

    def _changed(self) -> None:
        typed = bool(self.field.text().strip())
        self.keep.setEnabled(typed)
        self.test.setEnabled((typed or self._kept) and not self._asking)

    def _test(self) -> None:
        self._asking = True
        self.answer.setText(tr("Asking the hub…"))
        self.answer.show()
        self._changed()
        self.tried.emit(self.field.text().strip())

    def _keep(self) -> None:
        self.kept.emit(self.field.text().strip())
        self.field.clear()
