"""Texts in the reader's language: which one is chosen, what is said in it, and what a slip of a translator costs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtWidgets import QApplication

from desktop.figures import count
from desktop.language import counted, figure, locale, tr
from desktop.languages import speak, wanted_of
from desktop.words import Notice
from installers.translations import release
from tests.gui.pseudo import silence

GERMAN = {
    "Stay {name}": ["Bleib {name}"],
    "Lost {name}": ["Verloren {nmae}"],
    "In {folder}": ["In {folder:>20}"],
    "{rate:.1f} tok/s": ["{rate:.1f} Token/s"],
    "en": ["de"],
    "%n files": ["%n Datei", "%n Dateien"],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """With a German and an Arabic translation."""
    write(tmp_path / "tandem_de.qm", "de", GERMAN)
    write(tmp_path / "tandem_ar.qm", "ar", {"Go": ["اذهب"]})
    return tmp_path


@pytest.fixture
def app(qapp: QApplication) -> Iterator[QApplication]:
    """In English and from left to right again afterwards."""
    yield qapp
    silence(qapp)


def write(path: Path, language: str, words: dict[str, list[str]]) -> None:
    root = ElementTree.Element("TS", version="2.1", language=language)
    context = ElementTree.SubElement(root, "context")
    ElementTree.SubElement(context, "name").text = "Tandem"
    for source, forms in words.items():
        message = ElementTree.SubElement(context, "message", {"numerus": "yes"} if len(forms) > 1 else {})
        ElementTree.SubElement(message, "source").text = source
        if source == "en":
            ElementTree.SubElement(message, "comment").text = "this language's own code, as in the name of its file"
        translation = ElementTree.SubElement(message, "translation")
        if len(forms) == 1:
            translation.text = forms[0]
        for form in forms if len(forms) > 1 else ():
            ElementTree.SubElement(translation, "numerusform").text = form
    source = path.with_suffix(".ts")
    ElementTree.ElementTree(root).write(source, encoding="utf-8", xml_declaration=True)
    release(source, path)


def test_english_is_spoken_where_nothing_else_is_there(app: QApplication, tmp_path: Path) -> None:
    assert speak(app, folder=tmp_path) == ""
    assert speak(app, "en-GB", tmp_path) == ""
    assert counted("%n file", "%n files", 1) == "1 file"
    assert counted("{n:,} file", "{n:,} files", 2000, n=2000) == "2,000 files"
    assert counted("{n:,} file", "{n:,} files", 2**40, n=2**40) == "1,099,511,627,776 files"
    assert locale().language() == QLocale.Language.English


def test_a_translation_speaks(app: QApplication, folder: Path) -> None:
    assert speak(app, "de_AT", folder) == ""
    assert tr("Stay {name}", name="Ada") == "Bleib Ada"
    assert [counted("%n file", "%n files", n) for n in (1, 2)] == ["1 Datei", "2 Dateien"]
    assert tr("Not translated {name}", name="Ada") == "Not translated Ada"
    assert locale().dayName(1) == "Montag"
    assert app.layoutDirection() is Qt.LayoutDirection.LeftToRight


def test_numbers_have_the_signs_of_the_language(app: QApplication, folder: Path) -> None:
    assert (figure(1234.5, ",.1f"), count(1204)) == ("1,234.5", "1,204")
    speak(app, "de", folder)
    assert tr("{rate:.1f} tok/s", rate=12.34) == "12,3 Token/s"
    assert (figure(1234.5, ",.1f"), count(1204)) == ("1.234,5", "1.204")
    assert tr("Not translated {n:,} of {name}", n=2000, name="1.5") == "Not translated 2.000 of 1.5"


def test_a_slip_in_a_translation_costs_its_sentence_only(app: QApplication, folder: Path) -> None:
    speak(app, "de", folder)
    assert tr("Lost {name}", name="Ada") == "Lost Ada"
    assert tr("In {folder}", folder=Path("/x")) == "In /x"


def test_a_name_that_is_not_utf_8_stays_in_its_text(app: QApplication, folder: Path) -> None:
    """Linux allows any bytes, which Python holds as halves of characters."""
    speak(app, "de", folder)
    said = Notice("Not read", "In caf\udce9 is nothing")
    assert (said.title, said.detail) == ("Not read", "In caf\udce9 is nothing")


def test_a_file_of_a_translator_is_spoken_in_its_direction(app: QApplication, folder: Path) -> None:
    assert speak(app, str(folder / "tandem_ar.qm")) == ""
    assert tr("Go") == "اذهب"
    assert app.layoutDirection() is Qt.LayoutDirection.RightToLeft


def test_a_language_that_is_not_there_is_said_with_those_that_are(app: QApplication, folder: Path) -> None:
    assert speak(app, "fr", folder) == (
        "Tandem has no translation “fr”. Start it without --language, or with one of: en, ar, de."
    )


@pytest.mark.parametrize(
    ("preferred", "said"),
    [(["de-AT", "en-US"], "Bleib Ada"), (["en-US", "de"], "Stay Ada"), (["fr", "de"], "Bleib Ada")],
)
def test_the_systems_languages_are_taken_in_their_order(
    app: QApplication, folder: Path, preferred: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(QLocale, "uiLanguages", lambda *_: preferred)
    speak(app, folder=folder)
    assert tr("Stay {name}", name="Ada") == said


def test_the_language_is_an_argument_beside_those_of_qt() -> None:
    assert wanted_of(["tandem-desktop", "-style", "fusion", "--language", "de"]) == "de"
    assert wanted_of(["tandem-desktop", "--language=pt_BR", "--other"]) == "pt_BR"
    assert wanted_of(["tandem-desktop"]) == ""


@pytest.mark.parametrize("name", ["en_broken.qm", "en-x.qm", "nowhere.qm"])
def test_a_file_that_is_no_translation_is_said_whatever_its_name(app: QApplication, folder: Path, name: str) -> None:
    (folder / "en_broken.qm").write_bytes(b"no translation")
    assert f"no translation “{name}”" in speak(app, name, folder)
