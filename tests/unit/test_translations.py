"""The translators' files: every text of the window is in them, and what is translated wrongly is refused."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from xml.etree import ElementTree

import pytest

from installers.texts import TextError, collect
from installers.translations import FOLDER, TEMPLATE, Entry, entries, languages, slips, update


def sources(tmp_path: Path, code: str) -> Path:
    (desktop := tmp_path / "desktop").mkdir(exist_ok=True)
    (desktop / "some.py").write_text(dedent(code))
    return desktop


def test_the_template_has_every_text_of_the_window(repo_root: Path) -> None:
    wanted = {(text.source, text.note, text.plural) for text in collect(repo_root / "desktop")}
    there = {(entry.source, entry.note, entry.plural) for entry in entries(FOLDER / TEMPLATE)}
    assert there == wanted, "run make translations"


def test_what_is_shipped_can_be_shown() -> None:
    made = {path.stem.removeprefix("tandem_") for path in FOLDER.glob("*.qm")}
    assert made == set(languages()), "run make translations"
    assert [slip for language in languages() for slip in slips(FOLDER / f"tandem_{language}.ts")] == []


def test_texts_are_found_as_they_are_written(tmp_path: Path) -> None:
    desktop = sources(
        tmp_path,
        """
        NOTE = "of a file"
        TABLE = {"a": marked("In a table")}
        tr("A name: {name}, "
           "in two lines", name=name)
        tr(TABLE["a"])
        counted("%n file", "%n files", n, note=NOTE)
        f"{tr('Within')} {x}"
        tr("On") if on else tr("Off" if off else "Neither")
        """,
    )
    texts = list(collect(desktop))
    assert [text.source for text in texts] == [
        "In a table",
        "A name: {name}, in two lines",
        "%n files",
        "Within",
        "On",
        "Off",
        "Neither",
    ]
    assert [(text.note, text.one) for text in texts if text.plural] == [("of a file", "%n file")]


@pytest.mark.parametrize(
    "code",
    [
        'tr(f"{n} files")',
        'tr("a" + b)',
        'tr("{} files".format(n))',
        "marked(TABLE)",
        'counted("%n file", MANY, n)',
        'tr("a", note=f"{x}")',
        'tr("")',
    ],
)
def test_a_text_that_translators_cannot_see_is_refused(tmp_path: Path, code: str) -> None:
    with pytest.raises(TextError, match=r"desktop/some\.py:1"):
        collect(sources(tmp_path, code))


def test_a_text_cannot_be_of_a_number_in_one_place_only(tmp_path: Path) -> None:
    with pytest.raises(TextError, match="add a note"):
        collect(sources(tmp_path, 'tr("%n files")\ncounted("%n file", "%n files", n)'))


def test_a_translation_outlives_changes_of_the_sources(tmp_path: Path) -> None:
    """Begun, translated, updated after a text came and one went: with Qt's own tools."""
    folder = tmp_path / "translations"
    first = 'tr("Stay \\"quoted\\" — ünïcode\\n{x}", x=1)\ntr("Go")\ncounted("%n file", "%n files", n)'
    update(["de"], sources(tmp_path, first), folder)
    translate(folder / "tandem_de.ts", {"Stay": "Bleib {x}", "Go": "Geh", "%n files": "%n Datei|%n Dateien"})
    update([], sources(tmp_path, first.replace('tr("Go")', 'tr("Come", note="here")')), folder)
    assert list(entries(folder / TEMPLATE)) == [
        Entry('Stay "quoted" — ünïcode\n{x}', "", False, ("",)),
        Entry("Come", "here", False, ("",)),
        Entry("%n files", "", True, ("",)),
    ]
    german = {entry.source: entry.forms for entry in entries(folder / "tandem_de.ts")}
    assert german["Come"] == ("",)
    assert german["%n files"] == ("%n Datei", "%n Dateien")
    assert "Geh" in (folder / "tandem_de.ts").read_text("utf-8"), "what was translated once is kept for its return"
    assert (folder / "tandem_de.qm").stat().st_size > 0


@pytest.mark.parametrize("wrong", ["Bleib {y}", "Bleib", "Bleib {x", "Bleib {x} {}"])
def test_a_translation_that_could_not_be_filled_is_refused(tmp_path: Path, wrong: str) -> None:
    folder, desktop = tmp_path / "translations", sources(tmp_path, 'tr("Stay {x}", x=1)')
    update(["de"], desktop, folder)
    translate(folder / "tandem_de.ts", {"Stay": wrong})
    with pytest.raises(TextError, match="does not have the same"):
        update([], desktop, folder)


def test_a_code_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    from installers.translations import main

    assert main(["../de"]) == 1
    assert "is no language's code" in capsys.readouterr().err


def translate(path: Path, words: dict[str, str]) -> None:
    """As Linguist writes it."""
    tree = ElementTree.parse(path)
    for message in tree.iter("message"):
        translation = message.find("translation")
        assert translation is not None
        said = next((words[key] for key in words if message.findtext("source", "").startswith(key)), None)
        if said is not None:
            translation.attrib.pop("type", None)
            forms = translation.findall("numerusform")
            for form, text in zip(forms or [translation], said.split("|"), strict=True):
                form.text = text
    tree.write(path, encoding="utf-8", xml_declaration=True)
