"""``make translations``: brings the translators' files up to date, and makes what the program reads of them.

``desktop/translations/tandem.ts`` is the template, without a language; each ``tandem_xx.ts`` beside it is edited with
Qt Linguist, and its ``tandem_xx.qm`` is what is shipped. A language's code as an argument begins it.
"""

from __future__ import annotations

import re
import shutil
import string
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from installers.progress import SetupError, say
from installers.texts import TextError, as_cpp, collect

ROOT = Path(__file__).resolve().parent.parent
DESKTOP = ROOT / "desktop"
FOLDER = DESKTOP / "translations"
TEMPLATE = "tandem.ts"
CODE = re.compile(r"[a-z]{2,3}(_[A-Z][A-Za-z]+)?")


@dataclass(frozen=True)
class Entry:
    """A text in a translator's file, with the forms that its translation has so far."""

    source: str
    note: str
    plural: bool
    forms: tuple[str, ...]


def main(arguments: Sequence[str]) -> int:
    """Update all files; the exit code."""
    try:
        update(arguments)
    except (TextError, SetupError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def update(begun: Sequence[str] = (), desktop: Path = DESKTOP, folder: Path = FOLDER) -> None:
    """Bring the template and every language up to date with the sources.

    Args:
        begun: codes of languages that are to have a file from now on.
        desktop: the sources.
        folder: of the translations.

    Raises:
        TextError: the sources, or a translation, hold what would not be shown as it should.
        SetupError: a code is none, or one of Qt's tools failed.
    """
    if wrong := [code for code in begun if not CODE.fullmatch(code)]:
        raise SetupError(f"“{wrong[0]}” is no language's code: write it like de, or pt_BR.")
    texts = collect(desktop)
    folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        (code := Path(scratch) / "texts.cpp").write_text(as_cpp(texts), "utf-8")
        _lupdate(code, folder / TEMPLATE, "-no-obsolete")
        for language in sorted({*languages(folder), *begun}):
            _lupdate(code, folder / f"tandem_{language}.ts", "-target-language", language)
    say(f"{len(texts)} texts in {folder / TEMPLATE}")
    if faults := [fault for language in languages(folder) for fault in slips(folder / f"tandem_{language}.ts")]:
        raise TextError("\n".join(faults))
    for language in languages(folder):
        release(folder / f"tandem_{language}.ts", folder / f"tandem_{language}.qm")
        say(f"{folder / f'tandem_{language}.qm'}")


def languages(folder: Path = FOLDER) -> list[str]:
    """The codes of those that have a translators' file."""
    return sorted(path.stem.removeprefix("tandem_") for path in folder.glob("tandem_*.ts"))


def entries(path: Path) -> Iterator[Entry]:
    """What stands in a translators' file, but for what is no longer in the sources."""
    for message in ElementTree.parse(path).iter("message"):
        translation = message.find("translation")
        if translation is None or translation.get("type") in ("vanished", "obsolete"):
            continue
        forms = [form.text or "" for form in translation.findall("numerusform")] or [translation.text or ""]
        source, note = message.findtext("source", ""), message.findtext("comment", "")
        yield Entry(source, note, message.get("numerus") == "yes", tuple(forms))


def slips(path: Path) -> list[str]:
    """Translations whose names in braces are not those of their source: they could not be filled."""
    out = []
    for entry in entries(path):
        names = fields(entry.source)
        for form in filter(None, entry.forms):
            got = fields(form)
            fits = got is not None and (got == names or (entry.plural and got <= (names or set())))
            if names is not None and not fits:
                out.append(f"{path.name}: “{form}” does not have the same {{names}} as “{entry.source}”.")
    return out


def fields(text: str) -> set[str] | None:
    """The names in braces; None where the braces do not pair."""
    try:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}
    except ValueError:
        return None


def release(source: Path, to: Path) -> None:
    """Make the file that the program reads."""
    _qt("lrelease", "-silent", str(source), "-qm", str(to))


def _lupdate(code: Path, to: Path, *options: str) -> None:
    _qt("lupdate", "-silent", "-locations", "none", "-source-language", "en", *options, str(code), "-ts", str(to))


def _qt(tool: str, *arguments: str) -> None:
    """A tool of Qt for translators, as PySide brings it."""
    program = shutil.which(f"pyside6-{tool}", path=str(Path(sys.executable).parent))
    if program is None:
        raise SetupError(f"pyside6-{tool} is not beside {sys.executable}: run make translations, which sets it up.")
    done = subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    said = (done.stdout + done.stderr).strip()
    if done.returncode != 0 or said:
        raise SetupError(f"{tool} failed: {said or f'exit code {done.returncode}'}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
