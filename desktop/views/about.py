"""What this program is: its version, its licence, and the libraries it stands on with theirs."""

from __future__ import annotations

import re
from importlib.metadata import PackageNotFoundError, distribution, requires

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QLabel, QPushButton, QVBoxLayout, QWidget

from backend import __version__
from desktop.language import tr
from desktop.theme.units import lines
from desktop.widgets.figure_table import FigureTable

_SHORT = 60
"""Letters; a longer licence field is the licence's whole text."""


def libraries() -> list[tuple[str, str, str]]:
    """Name, version and licence of what Tandem needs to run, and of what those need in turn, as they themselves say."""
    found: dict[str, tuple[str, str, str]] = {}
    waiting = _needs("tandem-chat")
    while waiting:
        name = waiting.pop()
        if name.lower() in found:
            continue
        try:
            about = distribution(name)
        except PackageNotFoundError:
            continue
        found[name.lower()] = (about.metadata["Name"], about.version, _licence(name))
        waiting += _needs(name)
    return [found[name] for name in sorted(found)]


def _needs(name: str) -> list[str]:
    """What a package needs always, without its extras."""
    try:
        asked = requires(name) or []
    except PackageNotFoundError:
        return []
    return [re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0] for line in asked if "extra ==" not in line]


def _licence(name: str) -> str:
    told = distribution(name).metadata.json
    short = str(told.get("license_expression") or told.get("license") or "")
    if short and len(short) <= _SHORT and "\n" not in short:
        return short
    kinds = [line.split(" :: ")[-1] for line in told.get("classifier", ()) if line.startswith("License ::")]
    return ", ".join(kinds) or tr("see its package")


class About(QDialog):
    """Shows; Esc closes it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("About Tandem"))
        heading = QLabel(tr("Tandem {version}", version=__version__))
        heading.setObjectName("heading")
        what = QLabel(
            tr("Chat with models on this machine, sooner with a draft beside them. Free under the Apache 2.0 licence.")
        )
        what.setWordWrap(True)
        on = QLabel(tr("The libraries it stands on, and their licences:"))
        on.setObjectName("subtle")
        on.setWordWrap(True)
        headings = ((tr("Library"), ""), (tr("Version"), ""), (tr("Licence"), ""))
        self.table = FigureTable(tr("Libraries and their licences"), headings, names=3, whole=True)
        for number, row in enumerate(libraries()):
            self.table.set_row(number, row)
        close = QPushButton(tr("Close"))
        close.clicked.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(heading)
        layout.addWidget(what)
        layout.addWidget(on)
        layout.addWidget(self.table, 1)
        layout.addWidget(close, 0, Qt.AlignmentFlag.AlignRight)
        self.resize(lines(self, 30), lines(self, 26))
