"""What a model writes never makes the window open a file, a share or an address."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QColor, QImage, QTextDocument, QTextFragment
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from desktop.widgets.code import CodeBlock
from desktop.widgets.prose import Prose
from desktop.widgets.prose_style import may_follow


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    image = QImage(40, 40, QImage.Format.Format_RGB32)
    image.fill(QColor("red"))
    path = tmp_path / "a.png"
    assert image.save(str(path))
    return path


class Watched(Prose):
    """Notes what it is asked to load."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def loadResource(self, kind: int, url: QUrl | str) -> Any:
        self.asked.append(str(url))
        return super().loadResource(kind, url)


def fragments(document: QTextDocument) -> list[QTextFragment]:
    found = []
    block = document.begin()
    while block.isValid():
        parts = block.begin()
        while not parts.atEnd():
            found.append(parts.fragment())
            parts += 1
        block = block.next()
    return found


@pytest.fixture
def prose(qtbot: QtBot) -> Watched:
    made = Watched()
    qtbot.addWidget(made)
    made.resize(400, 100)
    made.show()
    return made


@pytest.mark.parametrize("address", ["{}", "file://{}", "//host/share/a.png", "file://host/share/a.png"])
def test_an_image_is_its_words(prose: Watched, picture: Path, address: str) -> None:
    prose.set_markdown(f"Before ![a *red* square]({address.format(picture)}) after.")
    prose.grab()
    assert prose.asked == []
    assert prose.toPlainText() == "Before a red square after."
    assert not any(part.charFormat().isImageFormat() for part in fragments(prose.document()))


def test_images_in_lists_tables_links_and_references(prose: Watched, picture: Path) -> None:
    prose.set_markdown(
        f"- ![one]({picture})\n\n| a | b |\n|---|---|\n| ![two]({picture}) | x |\n\n[![three]({picture})](https://x.y)"
        f" ![four][1]![four][1]\n\n[1]: {picture}\n\n<img src='{picture}'>"
    )
    prose.grab()
    assert prose.asked == []
    assert not any(part.charFormat().isImageFormat() for part in fragments(prose.document()))
    for word in ("one", "two", "three", "fourfour"):
        assert word in prose.toPlainText()


def test_the_document_itself_gets_nothing(prose: Watched, picture: Path) -> None:
    """Qt's document opens the file on its own when the widget gives it nothing at all."""
    prose.set_markdown("text")
    kind = QTextDocument.ResourceType.ImageResource.value
    for url in (QUrl(str(picture)), QUrl.fromLocalFile(str(picture))):
        assert prose.document().resource(kind, url).size().width() == 1


def test_a_tooltip_is_never_html(prose: Watched) -> None:
    prose.set_markdown("[x](<\\<img src=//host/share/a.png\\>>) and [y](https://a.b/c?d=e)")
    tips = [part.charFormat().toolTip() for part in fragments(prose.document()) if part.charFormat().toolTip()]
    assert tips == ["%3Cimg%20src=//host/share/a.png%3E", "https://a.b/c?d=e"]


def test_the_word_of_a_fence_is_never_html(qtbot: QtBot) -> None:
    code = CodeBlock()
    qtbot.addWidget(code)
    code.set_code("x = 1", "<img/src=//host/share/a.png>", closed=True)
    (name,) = [label for label in code.findChildren(QLabel) if label.text()]
    assert name.textFormat() == name.textFormat().PlainText


@pytest.mark.parametrize(
    "address", ["file:///etc/passwd", "javascript:alert(1)", "data:text/html,x", "/etc", "\\\\host\\a"]
)
def test_only_web_and_mail_links_are_followed(prose: Watched, address: str) -> None:
    prose.set_markdown(f"[x]({address}) and [y](HTTPS://a.b) [z](mailto:a@b.c)")
    links = [part.charFormat().anchorHref() for part in fragments(prose.document()) if part.charFormat().isAnchor()]
    assert links == ["HTTPS://a.b", "mailto:a@b.c"]
    assert not prose.follow(QUrl(address))
    assert may_follow("https://a.b")
