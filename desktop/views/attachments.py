"""Files and long texts that are dropped, pasted or chosen: read, shown as chips, and refused in words."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog
from shiboken6 import isValid

from backend.documents import MOST_FILES, Attachment, DocumentError, from_paste
from backend.text import short_line, shown_name
from desktop.bridge import EngineBridge
from desktop.language import counted, figure, tr
from desktop.models.attaching import Attaching
from desktop.views.weights import Weights
from desktop.widgets.writing import Writing
from desktop.words import Notice

if TYPE_CHECKING:
    from desktop.views.main_window import MainWindow

_AS_TEXT = 200_000
"""Characters up to which a long text may stand in the message itself: beyond, the text field becomes slow."""
_MOST_WHYS = 5


class Attachments(QObject):
    """Takes what is offered to a place where a message is written."""

    def __init__(self, window: MainWindow, bridge: EngineBridge) -> None:
        super().__init__(window)
        self._window, self._say = window, window.page.notice.show_notice
        self.reading = Attaching(self)
        self._weights = Weights(window.page.composer.writing.chips, bridge, window.engine)
        self._places: dict[int, Writing] = {}
        self._whys: list[str] = []
        """What could not be attached of what was offered last."""
        page = window.page
        page.composer.writing.offered.connect(lambda what: self.take(page.composer.writing, what))
        page.dropped.connect(lambda files: self.take(page.composer.writing, files))
        page.composer.writing.chips.interrupted.connect(self._interrupted)
        page.messages.offered.connect(self.take)
        self.reading.done.connect(self._read)
        self.reading.refused.connect(self._refused)
        self.reading.progress.connect(self._progress)

    def close(self) -> None:
        """The program ends."""
        self.reading.close()

    def choose(self) -> None:
        """Ask which files go along with the message in the box."""
        self.take(self._window.page.composer.writing, None)

    def take(self, place: Writing, what: list[Path] | str | Notice | None) -> None:
        """See ``Writing.offered``."""
        if what is None:
            names, _ = QFileDialog.getOpenFileNames(self._window, tr("Attach files"), "", tr("All files (*)"))
            what = [Path(name) for name in names]
        if isinstance(what, Notice):
            self._say(what)
        elif isinstance(what, str):
            self._offer(place, what)
        elif what:
            self._add(place, what)

    def _add(self, place: Writing, files: Sequence[Path]) -> None:
        room = MOST_FILES - len(place.chips.chips)
        if len(files) > room:
            self._say(Notice(tr("That is too many files"), _too_many(room), mild=True))
        self._whys = []
        for path in files[: max(room, 0)]:
            ticket = self.reading.begin(path)
            self._places[ticket] = place
            name = short_line(shown_name(path.name), 80) or str(path)
            place.chips.begin(name, ticket, partial(self._cancel, ticket))
        place.setFocus()

    def _offer(self, place: Writing, text: str) -> None:
        """A long text may be a file or stand in the message."""
        notice = Notice(
            counted(
                "The pasted text is long ({length} character)",
                "The pasted text is long ({length} characters)",
                len(text),
                length=figure(len(text), ","),
            ),
            tr("As an attachment it stays out of the way and is read with the message.")
            if len(text) <= _AS_TEXT
            else tr("It is too long for the message itself, but may be attached to it."),
            ("attach", "paste", "cancel") if len(text) <= _AS_TEXT else ("attach", "cancel"),
            mild=True,
            does={
                "attach": lambda: self._attach(place, text),
                "paste": lambda: self._paste(place, text),
                "cancel": lambda: isValid(place) and place.setFocus(),
            },
        )
        self._say(notice)

    def _attach(self, place: Writing, text: str) -> None:
        if not isValid(place):
            return
        number = 1 + sum(chip.name.startswith("Pasted text") for chip in place.chips.chips)
        try:
            attachment = from_paste(text, number)
        except DocumentError as error:
            self._say(Notice(tr("This cannot be attached"), error.message, mild=True))
        else:
            place.chips.add(attachment)
        place.setFocus()

    def _paste(self, place: Writing, text: str) -> None:
        if isValid(place):
            place.edit.insert(text)

    def _read(self, ticket: int, attachment: Attachment) -> None:
        if (place := self._place(ticket)) is not None:
            place.chips.end(ticket, attachment)
            if said := ". ".join(filter(None, [attachment.part, attachment.note])):
                title = tr("“{name}” is attached", name=attachment.shown)
                self._say(Notice(title, f"{said[0].upper()}{said[1:]}.", mild=True))

    def _refused(self, ticket: int, why: str) -> None:
        if (place := self._place(ticket)) is not None:
            place.chips.end(ticket, None)
            self._whys.append(why)
            more = len(self._whys) - _MOST_WHYS
            said = [*self._whys[:_MOST_WHYS], *([tr("And {more} more.", more=more)] if more > 0 else [])]
            title = tr("This cannot be attached") if len(said) == 1 else tr("Some files cannot be attached")
            self._say(Notice(title, "\n".join(said), mild=True))

    def _progress(self, ticket: int, text: str) -> None:
        place = self._places.get(ticket)
        if place is not None and isValid(place):
            place.chips.progress(ticket, text)

    def _cancel(self, ticket: int) -> None:
        self._places.pop(ticket, None)
        self.reading.cancel(ticket)

    def _interrupted(self, names: list[str]) -> None:
        why = tr("{names}: another chat was opened before that was read. Attach it again.", names=", ".join(names))
        self._say(Notice(tr("Not everything was attached"), why, mild=True))

    def _place(self, ticket: int) -> Writing | None:
        """Where it belongs; None = nobody waits for it any more."""
        place = self._places.pop(ticket, None)
        return place if place is not None and isValid(place) else None


def _too_many(room: int) -> str:
    """What became of more files than a message takes; ``room`` = so many could be added."""
    if room <= 0:
        return tr("A message takes {most} files.", most=MOST_FILES)
    return counted(
        "A message takes {most} files. The first one was taken.",
        "A message takes {most} files. The first %n were taken.",
        room,
        most=MOST_FILES,
    )
