"""What a repository on the hub holds, and the choice among it: the right side of the models window."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from backend.errors import EngineError
from desktop.figures import gigabytes
from desktop.language import counted, tr
from desktop.models.outlook import UNKNOWN, Outlook
from desktop.views.model_detail import relink, text
from desktop.widgets.picker import Row
from desktop.widgets.rows import RowList


class HubDetail(QWidget):
    """Shows and asks."""

    chosen = Signal(object)
    """CatalogueModel that is to be downloaded."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.repo = ""
        self._offers: dict[str, Any] = {}
        self._title = text("heading")
        self._title.setTextFormat(Qt.TextFormat.RichText)
        self._title.setOpenExternalLinks(True)
        self._title.setTextInteractionFlags(Qt.TextInteractionFlag.TextBrowserInteraction)
        self._note = text("subtle")
        self.offers = RowList(tr("Quantisations"))
        self.button = QPushButton(tr("Download"))
        self.button.setProperty("primary", True)
        self.button.setAutoDefault(False)
        self.button.clicked.connect(self._choose)
        self.offers.selected.connect(lambda value: self.button.setEnabled(bool(value)))
        self.offers.activated_value.connect(lambda _: self._choose())
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 4, 4, 4)
        column.setSpacing(8)
        column.addWidget(self._title)
        column.addWidget(self._note)
        column.addWidget(self.offers, 1)
        column.addWidget(self.button, 0, Qt.AlignmentFlag.AlignLeft)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            relink(self._title)

    def show_asking(self, repo: str) -> None:
        """The hub is being asked."""
        self.repo, self._offers = repo, {}
        page = f"https://huggingface.co/{repo}"
        self._title.setText(f'<a href="{escape(page)}">{escape(repo)}</a>')
        self._say(tr("Asking the hub what it holds…"))

    def show_offers(self, offers: list[Any], outlooks: Mapping[str, Outlook], known: set[str]) -> None:
        """What can be had; ``known`` are ids of models that are in the library already."""
        self._offers = {entry.id: entry for entry in offers}
        said = [tr("Licence: {licence}.", licence=offers[0].licence.name)]
        if offers[0].gated:
            said.append(tr("Its publisher asks to accept the licence first, on its page."))
        self._say(" ".join([*said, tr("Whether a draft fits is seen when it is here.")]))
        self.offers.set_rows([_row(entry, outlooks.get(entry.id, UNKNOWN), entry.id in known) for entry in offers])
        self.offers.select_first()

    def show_error(self, error: EngineError) -> None:
        """The hub did not tell."""
        self._say(error.message)

    def _say(self, words: str) -> None:
        self._note.setText(words)
        self.offers.set_rows([])
        self.button.setEnabled(False)

    def _choose(self) -> None:
        if (entry := self._offers.get(self.offers.value)) is not None:
            self.chosen.emit(entry)


def _row(entry: Any, outlook: Outlook, known: bool) -> Row:
    variant = entry.variants[0]
    size = gigabytes(variant.size) if variant.size else tr("size not known")
    files = len(variant.files)
    parts = counted("%n file", "%n files", files) if files > 1 else ""
    fits = {True: tr("fits this machine"), False: outlook.words, None: ""}[outlook.fits]
    have = tr("in your list already") if known else ""
    name = variant.quant if variant.quant != "GGUF" and variant.quant not in entry.name.upper() else entry.name
    return Row(name, entry.id, " · ".join(part for part in (size, parts, fits, have) if part))
