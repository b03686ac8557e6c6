"""Screenshots of the window with the real worker and the starter pair: ``python -m tests.long.tour [FOLDER]``.

Needs the starter pair, and Xvfb where there is no display. Every picture is of a real state: real replies, a real
comparison, and a worker that was really killed.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from tests.long.attached import attached
from tests.long.display import display
from tests.long.reading import reading
from tests.long.tour_apart import SCENES, run_apart
from tests.long.tour_models import manage
from tests.long.tour_settings import settings

TARGET, DRAFT = "qwen2.5-coder-1.5b", "qwen2.5-coder-0.5b"
CODE = (
    "Write a Python function that merges two sorted lists of integers. Then give a small Markdown table with the "
    "time and space complexity."
)
STORY = "Tell a very short story about a lighthouse keeper who finds a letter in a bottle."


class Tour:
    """One window, taken through its states; ``choose`` = with the starter pair."""

    def __init__(self, folder: Path, *, choose: bool = True) -> None:
        from desktop.early import prepare
        from desktop.start import Desktop, make_app

        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        logs, problem = prepare()
        if logs is None:
            raise SystemExit(str(problem))
        self.app = make_app(["tandem"])
        self.desktop = Desktop(self.app, logs)
        if choose:
            self.desktop.settings.change(target=TARGET, draft=DRAFT)
        self.window = self.desktop.window

    def run(self) -> None:
        """Take every picture."""
        desktop, window = self.desktop, self.window
        desktop.theme.choose("light")
        window.show()
        desktop.begin()
        self.until(lambda: desktop.engine.progress is not None)
        self.picture("loading")
        self.until(lambda: desktop.engine.mode == "up" and desktop.engine.state.draft is not None)
        self.picture("empty-light")
        self.dark("empty-dark")
        self.seed()
        self.send(CODE)
        self.until(lambda: "```" in self.text and len(self.text) > 250)
        self.picture("streaming")
        self.until(lambda: not desktop.conversation.running)
        window.page.messages.verticalScrollBar().setValue(0)
        self.picture("reply-light")
        self.dark("reply-dark")
        attached(self)
        self.compare()
        self.seen()
        self.found()
        self.lists()
        for scene in (reading, manage, settings):
            scene(self)
        self.trial()
        self.benchmark()
        self.too_large()
        self.crash()
        window.resize(480, 560)
        self.picture("small")
        window.close()
        desktop.close()

    def compare(self) -> None:
        """An edit of code, where much of the answer is foreseeable, both ways."""
        from desktop.settings import AUTOMATIC
        from desktop.views.welcome import EXAMPLES

        desktop, window = self.desktop, self.window
        window.new_chat()
        self.seed()
        desktop.engine.choose_draft(AUTOMATIC)
        self.settle(1)
        self.until(lambda: not desktop.engine.busy)
        self.send(EXAMPLES[0].prompt)
        self.until(lambda: not desktop.conversation.running)
        self.picture("edit")
        window.compare()
        self.until(lambda: any(len(pane.text) > 200 for pane in desktop.comparing.view.panes.values()))
        self.picture("comparing")
        self.until(lambda: not desktop.comparing.running)
        self.picture("compare")
        self.dark("compare-dark")
        window.close_compare()

    def seen(self) -> None:
        """Where tokens came from, a round of few (a wrong draft, if there was one), and both halves of the panel."""
        from desktop.views.welcome import EXAMPLES

        window = self.window
        window.new_chat()
        self.seed()
        window.actions_.by_id["origins"].trigger()  # before the reply: only then it tells probabilities
        self.send(EXAMPLES[0].prompt)
        self.until(lambda: not self.desktop.conversation.running)
        reply = self.desktop.conversation.messages[-1]
        drafted = [r for r in reply.rounds if r["proposed"]] or list(reply.rounds)
        wrong = [r for r in drafted if r["outcome"] == "correction"] or drafted
        shortest = min(wrong, key=lambda r: len(r["proposed"]))["round"]
        self.pick(shortest)
        self.picture("tokens")
        self.dark("tokens-dark")
        window.resize(1360, 860)
        window.actions_.by_id["panel"].trigger()
        self.pick(shortest)
        self.picture("panel")
        bar = window.panel.verticalScrollBar()  # type: ignore[union-attr]
        bar.setValue(bar.maximum())
        self.picture("panel-below")
        self.desktop.theme.choose("dark")
        self.settle(1)
        self.dark("panel-dark")
        window.actions_.by_id["panel"].trigger()
        window.actions_.by_id["origins"].trigger()
        window.resize(1100, 760)

    def pick(self, number: int) -> None:
        """Look into a round of the last reply, as a click on its first token does."""
        from desktop.models.origins import pieces
        from desktop.widgets.origins import TokenText

        reply, widget = self.desktop.conversation.messages[-1], self.window.page.messages.widgets[-1]
        text = widget.findChild(TokenText)
        assert text is not None
        of = [piece.round for piece in pieces(reply.content, reply.tokens)]
        caret = text.textCursor()
        caret.setPosition(text._ends[of.index(number)] - 1)
        text.setTextCursor(caret)
        text.pick()
        self.settle(2)

    def found(self) -> None:
        """Words found in a chat, and a message written anew."""
        side, messages = self.window.sidebar, self.window.page.messages
        messages.widgets[0].rewrite()
        self.picture("rewrite")
        messages.widgets[0].leave()
        self.window.new_chat()
        side.start_search()
        side.search.setText("empty list")
        self.until(lambda: side.list.model().rowCount() > 0)
        self.settle(1)
        side.list.setFocus()
        side.list.setCurrentIndex(side.list.model().index(side.list.model().rowCount() - 1, 0))
        side.list.activated.emit(side.list.currentIndex())
        self.settle(0.5)
        self.picture("found")
        side.end_search()

    def lists(self) -> None:
        """The lists of models and of drafts, and the chat settings."""
        from PySide6.QtWidgets import QDialog

        for name, box in (("models", self.window.top.target), ("drafts", self.window.top.draft)):
            box.showPopup()
            self.settle()
            box.view().window().grab().save(str(self.folder / f"{name}.png"))
            box.hidePopup()
        self.window.edit_chat_settings()
        self.settle()
        dialog = self.window.findChild(QDialog)
        if dialog is not None:
            dialog.grab().save(str(self.folder / "chat-settings.png"))
            dialog.reject()

    def trial(self) -> None:
        """The drafts that are here, judged by the replies so far."""
        trying = self.window.trying
        trying.open()
        self.until(lambda: trying.trial.phase == "done")
        self.settle()
        assert trying.dialog is not None
        trying.dialog.grab().save(str(self.folder / "trial.png"))
        trying.dialog.reject()
        self.until(lambda: not self.desktop.engine.busy)

    def benchmark(self) -> None:
        """The pair measured on the built-in prompts: what is asked, on its way, and the report."""
        benchmarking = self.window.benchmarking
        benchmarking.open()
        dialog, process = benchmarking.dialog, benchmarking.benchmark
        assert dialog is not None

        def picture(name: str) -> None:
            self.settle()
            dialog.grab().save(str(self.folder / f"{name}.png"))

        dialog.options.fixed.setChecked(True)
        dialog.options.tokens.setValue(64)
        picture("benchmark-options")
        dialog.start.click()
        self.until(lambda: len(process.runs) >= 7)
        picture("benchmark-running")
        self.until(lambda: process.phase == "over")
        picture("benchmark")
        self.desktop.theme.choose("dark")
        picture("benchmark-dark")
        self.desktop.theme.choose("light")
        dialog.close()

    def too_large(self) -> None:
        """A context that no memory holds is refused, with what would fit."""
        engine, load = self.desktop.engine, self.desktop.settings.now.load
        engine.set_load_options(load.model_copy(update={"n_ctx": 2_000_000}))
        self.until(lambda: bool(self.window.page.notice.text) and not engine.busy)
        self.picture("too-large")
        engine.set_load_options(load)
        self.until(lambda: not self.window.page.notice.isVisible() and not engine.busy)

    def crash(self) -> None:
        """Kill the worker in the middle of a reply."""
        self.window.new_chat()
        self.send(STORY)
        self.until(lambda: len(self.text) > 150)
        for child in psutil.Process().children():
            if "backend.worker" in child.cmdline():
                child.kill()
        self.until(lambda: self.desktop.engine.mode == "lost" and not self.desktop.conversation.running)
        self.picture("error")
        self.dark("error-dark")

    @property
    def text(self) -> str:
        """The last message."""
        messages = self.desktop.conversation.messages
        return messages[-1].content if messages else ""

    def seed(self) -> None:
        """The same pictures every time, and no endless reply."""
        chat = self.desktop.conversation.chat_settings
        sampling = chat.sampling.model_copy(update={"seed": 7})
        self.desktop.conversation.set_chat_settings(chat.model_copy(update={"sampling": sampling, "max_tokens": 400}))

    def send(self, text: str) -> None:
        """Write and send."""
        self.window.page.composer.set_text(text)
        self.window.page.composer.submit()

    def dark(self, name: str) -> None:
        """The same state in the dark."""
        self.desktop.theme.choose("dark")
        self.picture(name)
        self.desktop.theme.choose("light")
        self.settle()

    def picture(self, name: str) -> None:
        """Save what the window shows."""
        self.settle()
        self.window.grab().save(str(self.folder / f"{name}.png"))

    def settle(self, seconds: float = 0.35) -> None:
        """Let timers and layouts finish."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.app.processEvents()
            time.sleep(0.005)

    def until(self, done: Callable[[], bool], seconds: float = 900) -> None:
        """Go on once ``done``."""
        end = time.monotonic() + seconds
        while not done():
            if time.monotonic() > end:
                raise SystemExit("the tour waited too long; see the log")
            self.settle(0.02)


def main() -> None:
    """Take the pictures into ``docs/images`` or the folder named."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "docs" / "images"
    with display(), tempfile.TemporaryDirectory() as home:
        os.environ["TANDEM_HOME"] = home
        Tour(folder).run()
        for scene in SCENES:
            run_apart(scene, folder)


if __name__ == "__main__":
    main()
