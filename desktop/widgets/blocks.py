"""The body of a message: one widget a block, and only blocks that changed are laid out again.

What takes long to lay out (a long table, say) is laid out less often while it streams: at most a sixth of the time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from PySide6.QtCore import QRect, QTimer
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QTextEdit, QToolButton, QVBoxLayout, QWidget

from desktop.language import tr
from desktop.maths.typesetter import Typesetter
from desktop.theme.units import lines
from desktop.widgets.code import CodeBlock
from desktop.widgets.markdown_split import Block, split_blocks, split_prose, split_typed
from desktop.widgets.marks import mark
from desktop.widgets.maths_block import MathsBlock
from desktop.widgets.prose import INDENT, Prose
from desktop.widgets.table import Table

_REST = 5
"""After a layout its duration passes so often before the next."""
_OPENING = 500


class BlockView(QWidget):
    """Shows text cut into blocks.

    Args:
        split: cuts the text.
        maths: draws formulas; without it their source is shown.
    """

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        split: Callable[[str, bool], list[Block]] = split_blocks,
        maths: Typesetter | None = None,
    ) -> None:
        super().__init__(parent)
        self._split, self._maths = split, maths
        self._plain = False
        self._text = ""
        self._rested = 0.0
        self._later = QTimer(self, singleShot=True)
        self._later.timeout.connect(lambda: self._render(self._text, complete=False))
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(10)
        self._blocks: list[Block] = []
        self._widgets: list[QWidget] = []
        self._rows: list[QHBoxLayout] = []
        self.rendered = 0
        """Blocks laid out so far (tests: streaming must not start over)."""

    @property
    def widgets(self) -> list[QWidget]:
        """The block widgets, in order."""
        return self._widgets

    @property
    def opening(self) -> str:
        """The first words, without thinking."""
        first = next((block for block in self._blocks if block.kind != "thinking"), None)
        return first.text[:_OPENING] if first is not None else tr("Thinking…") if self._blocks else ""

    def show_plain(self, text: str) -> None:
        """As typed, but for fenced code, which is shown as code."""
        self._plain = True
        self._update(split_typed(text))

    def show_markdown(self, text: str, complete: bool) -> None:
        """As Markdown; ``complete`` False while it streams."""
        self._text = text
        rest = self._rested - time.monotonic()
        if complete or rest <= 0:
            self._later.stop()
            self._render(text, complete)
        elif not self._later.isActive():
            self._later.start(round(1e3 * rest) + 1)

    def mark(self, words: Sequence[str]) -> tuple[QWidget, QRect] | None:
        """Mark words wherever they stand (none: no more); the first place, in a widget of this view."""
        first: tuple[QWidget, QRect] | None = None
        for widget in self._widgets:
            if isinstance(widget, Thinking):
                continue
            for edit in (*widget.findChildren(QTextEdit), *widget.findChildren(QPlainTextEdit), widget):
                if isinstance(edit, QTextEdit | QPlainTextEdit) and (rect := mark(edit, words)) is not None:
                    first = first or (edit, rect)
        return first

    def _render(self, text: str, complete: bool) -> None:
        began = time.monotonic()
        self._update(self._split(text, complete))
        now = time.monotonic()
        self._rested = now + _REST * (now - began)

    def _update(self, blocks: list[Block]) -> None:
        for at, block in enumerate(blocks):
            if at < len(self._blocks) and self._blocks[at] == block:
                continue
            if at < len(self._blocks) and not _alike(self._blocks[at], block):
                self._cut(at)
            if at >= len(self._widgets):
                self._put(self._widget_for(block), block.depth)
            self._fill(self._widgets[at], block)
            self.rendered += 1
        self._cut(len(blocks))
        self._blocks = blocks

    def _widget_for(self, block: Block) -> QWidget:
        if block.kind == "code":
            return CodeBlock()
        made: dict[str, type[Thinking | MathsBlock | Table | Prose]]
        made = {"thinking": Thinking, "maths": MathsBlock, "table": Table, "prose": Prose}
        return made[block.kind](maths=self._maths)

    def _fill(self, widget: QWidget, block: Block) -> None:
        if isinstance(widget, CodeBlock):
            widget.set_code(block.text, block.language, block.closed)
        elif isinstance(widget, Thinking):
            widget.set_text(block.text, block.closed)
        elif isinstance(widget, MathsBlock):
            widget.set_source(block.text)
        elif isinstance(widget, Prose) and self._plain:
            widget.set_plain(block.text)
        elif isinstance(widget, Prose):
            depth = 0 if isinstance(widget, Table) else block.depth
            widget.set_markdown(block.text, grows=not block.closed, depth=depth)

    def _put(self, widget: QWidget, depth: int) -> None:
        """At the end; indented as the list in which it stands (prose does that itself, on the side it begins)."""
        self._widgets.append(widget)
        row = QHBoxLayout()
        row.setSpacing(0)
        if depth and type(widget) is not Prose:
            row.addSpacing(depth * lines(self, INDENT))
        row.addWidget(widget)
        self._rows.append(row)
        self._layout.addLayout(row)

    def _cut(self, length: int) -> None:
        for widget in reversed(self._widgets[length:]):
            row = self._rows.pop()
            row.removeWidget(widget)
            self._layout.removeItem(row)
            row.deleteLater()
            widget.hide()
            widget.deleteLater()
        del self._widgets[length:]
        del self._blocks[length:]


class Thinking(QWidget):
    """The model's thinking: folded once it is over, to be unfolded by whoever wants to read it."""

    def __init__(self, parent: QWidget | None = None, maths: Typesetter | None = None) -> None:
        super().__init__(parent)
        self._toggle = QToolButton()
        self._toggle.setCheckable(True)
        self._toggle.setChecked(True)
        self._toggle.toggled.connect(self._show)
        self._blocks = BlockView(split=split_prose, maths=maths)
        self._text = ""
        self._closed = False
        inner = QWidget()
        inner.setObjectName("thinking")
        body = QVBoxLayout(inner)
        body.setContentsMargins(12, 2, 0, 2)
        body.addWidget(self._blocks)
        self._inner = inner
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._toggle)
        layout.addWidget(inner)
        self._show(True)

    def set_text(self, text: str, closed: bool) -> None:
        """Show the thinking; folds itself when it ends."""
        self._text = text
        ended, self._closed = closed and not self._closed, closed
        if ended:
            self._toggle.setChecked(False)
        self._show(self._toggle.isChecked())

    def unfold(self) -> None:
        """Show the thinking."""
        self._toggle.setChecked(True)

    def _show(self, shown: bool) -> None:
        if shown:  # folded, it costs nothing
            self._blocks.show_markdown(self._text, complete=self._closed)
        self._inner.setVisible(shown)
        words = (tr("Hide thinking") if self._closed else tr("Thinking…")) if shown else tr("Show thinking")
        self._toggle.setText(words)
        self._toggle.setAccessibleName(words)


def _alike(before: Block, now: Block) -> bool:
    """Whether one widget can show both."""
    return (before.kind, before.depth) == (now.kind, now.depth)
