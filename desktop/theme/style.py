"""The style sheet: spacing on a 4-pixel grid in units of the font, colours from the tokens only."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from string import Template

from PySide6.QtGui import QColor

from desktop.theme.tokens import Tokens

_CODE = 0.95
_SIZES = {"small": 0.92, "large": 1.25, "title": 1.7, "letters": _CODE}
"""Of text, beside the usual one."""


def stylesheet(tokens: Tokens, unit: int, points: float, *, mirrored: bool = False) -> str:
    """The sheet for these colours.

    Args:
        tokens: the colours.
        unit: a quarter of a line of text in pixels.
        points: the size of text.
        mirrored: for a window laid out from right to left.
    """
    values: dict[str, str] = {}
    for item in fields(tokens):
        value = getattr(tokens, item.name)
        if isinstance(value, QColor):
            values[item.name] = value.name()
    values |= {f"u{n}": f"{n * unit}px" for n in range(1, 13)}
    values |= {name: f"{points * share:.2f}pt" for name, share in _SIZES.items()}
    values["r"] = f"{2 * unit}px"
    values["start"], values["end"] = ("right", "left") if mirrored else ("left", "right")
    tick = "tick-dark" if tokens.on_accent.lightness() < 128 else "tick-light"
    values["tick"] = (Path(__file__).parents[1] / "resources" / "icons" / f"{tick}.svg").as_posix()
    return Template(_SHEET).substitute(values)


def zoomed(points: float) -> str:
    """The sheet of a part of the window whose text has another size (a font that is set reaches no styled widget)."""
    return f"* {{ font-size: {points:.2f}pt; }} #code QPlainTextEdit, #mono {{ font-size: {_CODE * points:.2f}pt; }}"


_SHEET = """
QMainWindow, QDialog { background: $page; }
QToolTip { background: $page; color: $ink; border: 1px solid $line; padding: $u1; }
#side { background: $side; border: none; border-$end: 1px solid $line; }
#side QListView { background: transparent; border: 1px solid transparent; border-radius: $r; outline: none; }
#side QListView:focus { border: 1px solid $accent; }
#pages { background: $side; border: none; border-$end: 1px solid $line; padding: $u2; outline: none; }
#pages::item { color: $ink; padding-$start: $u2; border: 1px solid transparent; border-radius: $r; }
#pages::item:hover { background: $hover; }
#pages::item:selected { background: $bubble; }
#pages::item:selected:focus { border: 1px solid $accent; }
#top { background: $page; border-bottom: 1px solid $line; }
#status { background: $side; border-top: 1px solid $line; }
#status QLabel, #status QToolButton { color: $subtle; font-size: $small; }
#status QLabel[lead="true"] { color: $ink; font-weight: 600; }

QToolButton { border: 1px solid transparent; border-radius: $r; padding: $u1; color: $ink; background: transparent; }
QToolButton:hover { background: $hover; }
QToolButton:pressed, QToolButton:checked { background: $pressed; }
QToolButton:disabled { color: $faint; }
QToolButton:focus { border: 1px solid $accent; }
QToolButton[primary="true"] { background: $accent; border-radius: $u3; padding: $u1; }
QToolButton[primary="true"]:disabled { background: $pressed; }
QToolButton::menu-indicator { image: none; }

QPushButton { border: 1px solid $line; border-radius: $r; padding: $u1 $u3; background: $page; color: $ink; }
QPushButton:hover { background: $hover; }
QPushButton:pressed { background: $pressed; }
QPushButton:focus { border: 1px solid $accent; }
QPushButton:disabled { color: $faint; }
QPushButton[primary="true"] { background: $accent; border-color: $accent; color: $on_accent; font-weight: 600; }
QPushButton[primary="true"]:disabled { background: $pressed; border-color: $pressed; color: $subtle; }
QPushButton[primary="true"]:focus { border: 1px solid $ink; }
QPushButton[card="true"] { text-align: left; padding: 0; border-radius: $r; }

QLineEdit, QPlainTextEdit { placeholder-text-color: $subtle; }
QDialogButtonBox { dialogbuttonbox-buttons-have-icons: 0; }
QLineEdit#field, QPlainTextEdit#field {
  border: 1px solid $line; border-radius: $r; padding: $u1 $u2; background: $page; color: $ink;
  selection-background-color: $accent; selection-color: $on_accent; }
QLineEdit#field[wrong="true"] { border: 1px solid $bad; }
QLineEdit#field:focus, QPlainTextEdit#field:focus { border: 1px solid $accent; }
QSpinBox#field { border: 1px solid $line; border-radius: $r; padding: $u1 0; background: $page; color: $ink;
  selection-background-color: $accent; selection-color: $on_accent; }
QSpinBox#field::up-button, QSpinBox#field::down-button { width: 0; border: none; }
QSpinBox#field QLineEdit { background: transparent; border: none; color: $ink; }
QSpinBox#field QLineEdit:disabled { color: $faint; }
QSpinBox#field:focus { border: 1px solid $accent; }
QLabel:focus { border: 1px solid $accent; border-radius: $u1; }
QSlider { border: 1px solid transparent; border-radius: $u1; }
QSlider:focus { border: 1px solid $accent; }
QCheckBox { color: $ink; spacing: $u2; }
QCheckBox:disabled { color: $subtle; }
QCheckBox::indicator { width: $u3; height: $u3; border: 1px solid $faint; border-radius: $u1; background: $page; }
QCheckBox::indicator:checked { background: $accent; border: 1px solid $accent; image: url("$tick"); }
QCheckBox::indicator:checked:disabled { background: $faint; border: 1px solid $faint; }
QCheckBox::indicator:focus { border: 1px solid $ink; }
QComboBox { border: 1px solid $line; border-radius: $r; padding: $u1 $u2; background: $page; color: $ink; }
QComboBox:hover { background: $hover; }
QComboBox:focus, QComboBox:on { border: 1px solid $accent; }
QComboBox:disabled { color: $faint; }
QComboBox::drop-down { border: none; width: $u6; }
QComboBox::down-arrow { image: none; }
QComboBox QAbstractItemView { border: 1px solid $line; background: $page; color: $ink; outline: none;
  selection-background-color: $hover; selection-color: $ink; }
QTableView { border: 1px solid $line; border-radius: $r; background: $page; color: $ink; outline: none;
  selection-background-color: $pressed; selection-color: $ink; }
QTableView:focus { border: 1px solid $accent; }
QTableView::item { padding: $u1 $u2; }
QHeaderView, QHeaderView::section { background: transparent; color: $subtle; border: none; }
QHeaderView::section { border-bottom: 1px solid $line; padding: $u1 $u3; }

#composer { background: $page; border: 1px solid $line; border-radius: $u3; }
#composer[focused="true"] { border: 1px solid $accent; }
#composer QPlainTextEdit { background: transparent; border: none; color: $ink; }
#count { color: $subtle; }
#count[over="true"] { color: $bad; font-weight: 600; }

#chips { background: transparent; border: none; }
#chip { background: $hover; border: 1px solid $line; border-radius: $r; }
#chip:focus { border: 1px solid $accent; }
#attached { background: $page; border: 1px solid $line; border-radius: $r; }

#pending { background: $hover; border: none; border-top: 1px solid $line; }
#notice { background: $bad_page; border: 1px solid $bad; border-radius: $r; }
#notice[mild="true"] { background: $hover; border: 1px solid $line; }
#notice QLabel#title { font-weight: 600; }
#rows { background: $page; color: $ink; border: 1px solid $line; border-radius: $r; outline: none; }
#rows:focus { border: 1px solid $accent; }
#page { background: $page; border: none; }
#scroll { background: $page; border: 1px solid $page; }
#scroll:focus { border: 1px solid $accent; }
#column { background: $page; }
#author { font-weight: 600; }
#message { border: 1px solid transparent; border-radius: $r; }
#message:focus { border: 1px solid $accent; }
#bubble { background: $bubble; border-radius: $u3; }
#bubble QPlainTextEdit { background: $page; border: 1px solid $line; border-radius: $r; color: $ink; }
#bubble QPlainTextEdit:focus { border: 1px solid $accent; }
#bubble #attached QPlainTextEdit { background: transparent; border: 1px solid transparent; }
#bubble #attached QPlainTextEdit:focus { border: 1px solid $accent; }
#panel { background: $page; border: 1px solid $page; border-$start: 1px solid $line; }
#panel:focus { border: 1px solid $accent; }
#footer { color: $subtle; }
#subtle { color: $subtle; }
#heading { font-weight: 600; }
#greeting { font-size: $title; }
#verdict { font-weight: 600; font-size: $large; }
#key { background: $code; border: 1px solid $line; border-radius: $u1; padding: 0 $u1; }
#good { color: $good; font-weight: 600; }
#bad { color: $bad; font-weight: 600; }
#code { background: $code; border: 1px solid $line; border-radius: $r; }
#code QLabel { color: $subtle; }
#code[focused="true"] { border: 1px solid $accent; }
#code QPlainTextEdit { background: transparent; border: none; color: $ink; font-size: $letters; }
#mono { font-size: $letters; }
#prose { background: transparent; border: none; }
#thinking { border: none; border-$start: 3px solid $line; }
#jump { background: $page; border: 1px solid $line; border-radius: $u3; }
#jump:hover { background: $hover; }
#toast { background: $ink; border-radius: $r; }
#toast QLabel { color: $page; }
#toast QToolButton { color: $page; font-weight: 600; text-decoration: underline; }
#toast QToolButton:hover { background: $subtle; }
#pane { background: $page; border: 1px solid $line; border-radius: $r; }

QProgressBar { border: none; border-radius: $u1; background: $pressed; max-height: $u1; min-height: $u1;
  color: transparent; }
QProgressBar::chunk { background: $accent; border-radius: $u1; }
QSplitter::handle { background: transparent; }
QScrollBar:vertical { background: transparent; width: $u3; margin: 0; }
QScrollBar::handle:vertical { background: $pressed; border-radius: $u1; min-height: $u8; margin: 0 $u1; }
QScrollBar::handle:vertical:hover { background: $faint; }
QScrollBar:horizontal { background: transparent; height: $u3; margin: 0; }
QScrollBar#low:horizontal { background: $code; }
QScrollBar::handle:horizontal { background: $pressed; border-radius: $u1; min-width: $u8; margin: $u1 0; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
QMenu { background: $page; color: $ink; border: 1px solid $line; padding: $u1; }
QMenu::item { padding: $u1 $u5 $u1 $u3; border-radius: $u1; }
QMenu::item:selected { background: $hover; }
QMenu::item:disabled { color: $faint; }
QMenu::separator { height: 1px; background: $line; margin: $u1; }
"""
