"""Every keyboard shortcut, once: actions, tooltips and the list in Help are made from this table."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QKeySequence

Key = str | QKeySequence.StandardKey


@dataclass(slots=True, frozen=True)
class Shortcut:
    """``id`` names the action; ``key`` is a standard key where one exists."""

    id: str
    key: Key
    text: str


_S = QKeySequence.StandardKey
# A text field with the focus keeps its own keys (Redo is Ctrl+Shift+Z), and Ctrl+Alt is AltGr on some keyboards.
SHORTCUTS = (
    Shortcut("new", _S.New, "New chat"),
    Shortcut("search", "Ctrl+K", "Search chats"),
    Shortcut("rename", "F2", "Rename chat"),
    Shortcut("pin", "Ctrl+Shift+P", "Pin or unpin chat"),
    Shortcut("delete", "Ctrl+Shift+Backspace", "Delete chat"),
    Shortcut("undo_delete", "Ctrl+Shift+D", "Undo delete"),
    Shortcut("write", "Ctrl+L", "Go to the message box"),
    Shortcut("attach", _S.Open, "Attach files"),
    Shortcut("stop", "Esc", "Stop the reply"),
    Shortcut("regenerate", "Ctrl+R", "Regenerate the last reply"),
    Shortcut("continue", "Ctrl+Shift+R", "Continue the last reply"),
    Shortcut("copy", "Ctrl+Shift+C", "Copy the last reply"),
    Shortcut("edit", "Ctrl+Shift+M", "Edit the last message"),
    Shortcut("compare", "Ctrl+Shift+E", "Compare the last reply"),
    Shortcut("origins", "Ctrl+Shift+T", "Show where tokens came from"),
    Shortcut("speculation", "Ctrl+Shift+S", "Speculation on or off"),
    Shortcut("benchmark", "Ctrl+Shift+B", "Measure this pair"),
    Shortcut("chat_settings", "Ctrl+,", "Chat settings"),
    Shortcut("sidebar", "F8", "Show or hide the chats"),
    Shortcut("panel", "F9", "Show or hide the speculation panel"),
    Shortcut("shortcuts", "F1", "Keyboard shortcuts"),
    Shortcut("quit", _S.Quit, "Quit"),
)
FIXED = (
    ("Enter", "Send the message"),
    ("Shift+Enter", "New line"),
    ("Ctrl+Enter", "Save an edited reply"),
    ("Up, Down", "Move between messages"),
    ("Delete", "Remove an attachment"),
)
"""Keys of a widget, not of the window; listed in Help too."""


def key_text(action: str) -> str:
    """An action's key as people read it."""
    found = next(shortcut for shortcut in SHORTCUTS if shortcut.id == action)
    return keys(found).toString(QKeySequence.SequenceFormat.NativeText)


def keys(shortcut: Shortcut) -> QKeySequence:
    """The key on this platform; some standard keys do not exist everywhere."""
    sequence = QKeySequence(shortcut.key)
    return QKeySequence("Ctrl+Q") if sequence.isEmpty() and shortcut.id == "quit" else sequence
