"""Every keyboard shortcut, once: actions, tooltips and the list in Help are made from this table."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QKeySequence

from desktop.settings import SendWith

Key = str | QKeySequence.StandardKey
GROUPS = ("Chats", "Writing", "Replies", "Speculation", "Window")


@dataclass(slots=True, frozen=True)
class Shortcut:
    """``id`` names the action; ``key`` is a standard key where one exists; ``more`` are keys that do the same."""

    id: str
    key: Key
    text: str
    group: str = "Window"
    more: tuple[str, ...] = ()


_S = QKeySequence.StandardKey
# A text field with the focus keeps its own keys (Redo is Ctrl+Shift+Z), and Ctrl+Alt is AltGr on some keyboards.
# Nothing is deleted by a single key.
SHORTCUTS = (
    Shortcut("new", _S.New, "New chat", "Chats"),
    Shortcut("search", "Ctrl+K", "Search chats", "Chats"),
    Shortcut("rename", "F2", "Rename chat", "Chats"),
    Shortcut("pin", "Ctrl+Shift+P", "Pin or unpin chat", "Chats"),
    Shortcut("delete", "Ctrl+Shift+Backspace", "Delete chat", "Chats"),
    Shortcut("undo_delete", "Ctrl+Shift+D", "Undo delete", "Chats"),
    Shortcut("chat_settings", "Ctrl+Shift+O", "Chat settings", "Chats"),
    Shortcut("write", "Ctrl+L", "Go to the message box", "Writing"),
    Shortcut("attach", _S.Open, "Attach files", "Writing"),
    Shortcut("edit", "Ctrl+Shift+M", "Edit the last message", "Writing"),
    Shortcut("stop", "Esc", "Stop the reply", "Replies"),
    Shortcut("regenerate", "Ctrl+R", "Regenerate the last reply", "Replies"),
    Shortcut("continue", "Ctrl+Shift+R", "Continue the last reply", "Replies"),
    Shortcut("copy", "Ctrl+Shift+C", "Copy the last reply", "Replies"),
    Shortcut("compare", "Ctrl+Shift+E", "Compare the last reply", "Speculation"),
    Shortcut("origins", "Ctrl+Shift+T", "Show where tokens came from", "Speculation"),
    Shortcut("speculation", "Ctrl+Shift+S", "Speculation on or off", "Speculation"),
    Shortcut("benchmark", "Ctrl+Shift+B", "Measure this pair", "Speculation"),
    Shortcut("panel", "F9", "Show or hide the speculation panel", "Speculation"),
    Shortcut("sidebar", "F8", "Show or hide the chats", "Window"),
    Shortcut("models", "Ctrl+Shift+L", "Models", "Window"),
    Shortcut("zoom_in", _S.ZoomIn, "Zoom in", "Window", ("Ctrl+=",)),
    Shortcut("zoom_out", _S.ZoomOut, "Zoom out", "Window"),
    Shortcut("zoom_reset", "Ctrl+0", "Zoom back to 100 %", "Window"),
    Shortcut("settings", "Ctrl+,", "Settings", "Window"),
    Shortcut("shortcuts", "F1", "Keyboard shortcuts", "Window", ("Ctrl+/",)),
    Shortcut("quit", _S.Quit, "Quit", "Window"),
)


def fixed(send_with: SendWith) -> tuple[tuple[str, str, str], ...]:
    """Keys of a widget, not of the window, which are listed too: key, text and group."""
    enter = send_with == "enter"
    return (
        ("Enter" if enter else "Ctrl+Enter", "Send the message", "Writing"),
        ("Shift+Enter" if enter else "Enter", "New line", "Writing"),
        ("Delete", "Remove an attachment", "Writing"),
        ("Ctrl+Enter", "Save an edited reply", "Replies"),
        ("Up, Down", "Move between messages", "Replies"),
        ("Ctrl+wheel", "Zoom in or out", "Window"),
    )


def key_text(action: str) -> str:
    """An action's key as people read it."""
    return keys(_of(action)).toString(QKeySequence.SequenceFormat.NativeText)


def keys(shortcut: Shortcut) -> QKeySequence:
    """The key on this platform; some standard keys do not exist everywhere."""
    sequence = QKeySequence(shortcut.key)
    return QKeySequence("Ctrl+Q") if sequence.isEmpty() and shortcut.id == "quit" else sequence


def all_keys(shortcut: Shortcut) -> list[QKeySequence]:
    """The key, and those that do the same."""
    return [keys(shortcut), *map(QKeySequence, shortcut.more)]


def _of(action: str) -> Shortcut:
    return next(shortcut for shortcut in SHORTCUTS if shortcut.id == action)
