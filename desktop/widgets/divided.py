"""Parts side by side, whose widths a person changes by dragging; one below the other where there is no room."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSplitter, QWidget


class Divided(QSplitter):
    """Remembers how its width was shared last by a person.

    Args:
        name: under which that is kept.
        shares: of the width, one for each part, also for those that are added later.
    """

    def __init__(self, name: str, *shares: int, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.setObjectName(name)
        self.setChildrenCollapsible(False)
        self.shares = list(shares)
        self.splitterMoved.connect(self._moved)

    def take(self, shares: Sequence[int] | None) -> None:
        """Share the width as it was shared before; what does not fit these parts is as nothing."""
        if shares is not None and len(shares) == len(self.shares) and all(shares):
            self.shares = list(shares)
        self._share()

    def stack(self, narrow: bool) -> None:
        """In a narrow window one part below the other, else side by side as they were."""
        wanted = Qt.Orientation.Vertical if narrow else Qt.Orientation.Horizontal
        if wanted != self.orientation():
            self.setOrientation(wanted)
            self._share()

    def _share(self) -> None:
        upright = self.orientation() == Qt.Orientation.Vertical
        self.setSizes([1000] * self.count() if upright else self.shares[: self.count()])

    def _moved(self) -> None:
        if self.orientation() == Qt.Orientation.Horizontal:  # a part that is hidden has no width, and keeps its own
            sizes = [*self.sizes(), *self.shares[self.count() :]]
            self.shares = [now or before for now, before in zip(sizes, self.shares, strict=True)]
