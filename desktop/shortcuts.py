"""Every keyboard shortcut, once: actions, tooltips and the list in Help are made from this table."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QKeySequence

from desktop.language import marked, tr
from desktop.settings import SendWith

Key = str | QKeySequence.StandardKey
GROUPS = (marked("Chats"), marked("Writing"), marked("Replies"), marked("Speculation"), marked("Window"))
"""Sources of their headings, by which shortcuts refer to them."""


@dataclass(slots=True, frozen=True)
class Shortcut:
    """``id`` names the action; ``key`` is a standard key where one exists; ``more`` are keys that do the same.

    ``source`` is the English of ``text``, `marked`.
    """

    id: str
    key: Key
    source: str
    group: str = "Window"
    more: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What it does, in the reader's language."""
        return tr(self.source)


_S = QKeySequence.StandardKey
# A text field with the focus keeps its own keys (Redo is Ctrl+Shift+Z), and Ctrl+Alt is AltGr on some keyboards.
# Nothing is deleted by a single key.
SHORTCUTS = (
    Shortcut("new", _S.New, marked("New chat"), "Chats"),
    Shortcut("search", "Ctrl+K", marked("Search chats"), "Chats"),
    Shortcut("rename", "F2", marked("Rename chat"), "Chats"),
    Shortcut("pin", "Ctrl+Shift+P", marked("Pin or unpin chat"), "Chats"),
    Shortcut("delete", "Ctrl+Shift+Backspace", marked("Delete chat"), "Chats"),
    Shortcut("undo_delete", "Ctrl+Shift+D", marked("Undo delete"), "Chats"),
    Shortcut("chat_settings", "Ctrl+Shift+O", marked("Chat settings"), "Chats"),
    Shortcut("write", "Ctrl+L", marked("Go to the message box"), "Writing"),
    Shortcut("attach", _S.Open, marked("Attach files"), "Writing"),
    Shortcut("edit", "Ctrl+Shift+M", marked("Edit the last message"), "Writing"),
    Shortcut("stop", "Esc", marked("Stop the reply"), "Replies"),
    Shortcut("earlier", "Alt+Left", marked("Earlier version of the message"), "Replies"),
    Shortcut("later", "Alt+Right", marked("Later version of the message"), "Replies"),
    Shortcut("regenerate", "Ctrl+R", marked("Regenerate the last reply"), "Replies"),
    Shortcut("continue", "Ctrl+Shift+R", marked("Continue the last reply"), "Replies"),
    Shortcut("copy", "Ctrl+Shift+C", marked("Copy the last reply"), "Replies"),
    Shortcut("compare", "Ctrl+Shift+E", marked("Compare the last reply"), "Speculation"),
    Shortcut("origins", "Ctrl+Shift+T", marked("Show where tokens came from"), "Speculation"),
    Shortcut("speculation", "Ctrl+Shift+S", marked("Speculation on or off"), "Speculation"),
    Shortcut("benchmark", "Ctrl+Shift+B", marked("Measure this pair"), "Speculation"),
    Shortcut("panel", "F9", marked("Show or hide the speculation panel"), "Speculation"),
    Shortcut("next_pane", "F6", marked("Go to the next part of the window"), "Window"),
    Shortcut("sidebar", "F8", marked("Show or hide the chats"), "Window"),
    Shortcut("models", "Ctrl+Shift+L", marked("Models"), "Window"),
    Shortcut("zoom_in", _S.ZoomIn, marked("Zoom in"), "Window", ("Ctrl+=",)),
    Shortcut("zoom_out", _S.ZoomOut, marked("Zoom out"), "Window"),
    Shortcut("zoom_reset", "Ctrl+0", marked("Zoom back to 100 %"), "Window"),
    Shortcut("settings", "Ctrl+,", marked("Settings"), "Window"),
    Shortcut("about", "Ctrl+Shift+F1", marked("About Tandem"), "Window"),
    Shortcut("shortcuts", "F1", marked("Keyboard shortcuts"), "Window", ("Ctrl+/",)),
    Shortcut("quit", _S.Quit, marked("Quit"), "Window"),
)


def fixed(send_with: SendWith) -> tuple[tuple[str, str, str], ...]:
    """Keys of a widget, not of the window, which are listed too: key, text and group's source."""
    enter = send_with == "enter"
    return (
        (tr("Ctrl+1 to 9"), tr("Open one of the first nine chats"), "Chats"),
        (tr("Enter") if enter else tr("Ctrl+Enter"), tr("Send the message"), "Writing"),
        (tr("Shift+Enter") if enter else tr("Enter"), tr("New line"), "Writing"),
        (tr("Delete", note="the key"), tr("Remove an attachment"), "Writing"),
        (tr("Ctrl+Enter"), tr("Save an edited reply"), "Replies"),
        (tr("Up, Down"), tr("Move between messages"), "Replies"),
        (tr("Ctrl+wheel"), tr("Zoom in or out"), "Window"),
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
