"""What is done in the window while it is measured: as a person does it, through the widgets."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from tests.long import texts
from tests.long.driven import load, rest, until
from tests.long.loop_watch import LoopWatch, to_painted
from tests.long.many_chats import LONG_TITLE, RARE, SOME

if TYPE_CHECKING:
    from desktop.start import Desktop

Measured = tuple[str, float, float, str]
"""What, how much, the bar, the unit."""
IDLE_S = 5.0


class Measuring:
    """One run of the program, with many chats in its folder.

    Args:
        desktop: the program.
        tokens: how many the script says.
    """

    def __init__(self, desktop: Desktop, tokens: int) -> None:
        self.desktop, self.window, self.side = desktop, desktop.window, desktop.window.sidebar
        self._tokens = tokens

    def run(self) -> Iterator[Measured]:
        """Everything, in an order in which nothing is measured twice over."""
        load(self.desktop)
        rest(0.5)
        yield self.list_chats()
        for words in (RARE, SOME, "ren", "lo"):  # one chat's, a hundredth's, and nearly all chats', too short to index
            yield self.search(words)
        yield self.open_long()
        yield from self.stream("into it")
        self.window.actions_.by_id["panel"].trigger()
        yield from self.stream("with the panel open")
        self.window.actions_.by_id["panel"].trigger()
        self.window.actions_.by_id["origins"].trigger()
        yield from self.stream("with the tokens shown")
        self.window.actions_.by_id["origins"].trigger()
        rest(1.0)
        yield self.idle()

    def list_chats(self) -> Measured:
        """Read and shown anew."""
        model = self.side.model
        model.set_chats([])
        rest(0.3)
        took = to_painted(self.side.list, self.side.refresh, lambda: model.rowCount() > 1)
        return "10,000 chats listed", took, 300, "ms"

    def search(self, words: str) -> Measured:
        """From the last of the letters, typed at once, to the picture of what is found."""
        side, found = self.side, []
        side.finder.found.connect(lambda answered, hits: found.append(hits) if answered == words else None)
        side.start_search()
        rest(0.2)
        took = to_painted(side.list, lambda: QTest.keyClicks(side.search, words), lambda: bool(found))
        side.end_search()
        rest(0.2)
        return f"10,000 chats searched for {words!r} ({len(found[0])} shown)", took, 100, "ms"

    def open_long(self) -> Measured:
        """From a click in the list to the last paint."""
        model, view = self.side.model, self.window.page.messages
        index = next(i for n in range(model.rowCount()) if (i := model.index(n)).data() == LONG_TITLE)
        took = to_painted(view, lambda: self.side.list.clicked.emit(index), lambda: bool(view.widgets))
        return "a chat of 100,000 tokens opened", took, 500, "ms"

    def stream(self, how: str) -> Iterator[Measured]:
        """From the press of Enter to half a second after the reply's end, all of it said and shown."""
        conversation, edit = self.desktop.conversation, self.window.page.composer.edit
        edit.setFocus()
        QTest.keyClicks(edit, "Go on.")
        rest(1.0)
        watch, began = LoopWatch(), time.monotonic()
        QTest.keyClick(edit, Qt.Key.Key_Return)
        until(lambda: not conversation.running)
        took = time.monotonic() - began
        rest(0.5)
        watch.end()
        reply = conversation.messages[-1]
        if (reply.state, len(reply.content)) != ("complete", self._tokens * texts.LETTERS):
            raise RuntimeError(f"the reply is {reply.state} after {len(reply.content)} letters: {reply.error}")
        rate = self._tokens / took
        yield f"{rate:.0f} tokens a second {how}: the longest block", watch.longest, 50, "ms"
        yield f"{rate:.0f} tokens a second {how}: 99th percentile", watch.percentile, 16, "ms"

    def idle(self) -> Measured:
        """Of one processor core, with that chat on screen and the model loaded."""
        began = time.process_time()
        rest(IDLE_S)
        return "idle: share of a core", 100 * (time.process_time() - began) / IDLE_S, 1.0, "%"
