"""Which language the window speaks: the first of the system's that there is a translation for, or the one asked for."""

from __future__ import annotations

import argparse
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from desktop.language import tr

FOLDER = Path(__file__).parent / "translations"


def wanted_of(arguments: list[str]) -> str:
    """What ``--language`` says in the program's arguments; Qt's own among them are not looked at."""
    parser = argparse.ArgumentParser(prog="tandem-desktop", description="Tandem's window.")
    parser.add_argument(
        "--language", default="", metavar="XX", help="speak this language (en, de, …; or a translation's .qm file)"
    )
    return str(parser.parse_known_args(arguments[1:])[0].language)


def speak(app: QApplication, wanted: str = "", folder: Path = FOLDER) -> str:
    """Have all texts in a language from now on, and the window laid out in its direction.

    Args:
        app: to be done before the first window is made.
        wanted: a language's code, or a .qm file; empty = the system's languages, in their order.
        folder: of the translations.

    Returns:
        Why the language that was wanted is not spoken; empty where nothing is wrong.
    """
    translator = QTranslator(app)
    if not _load(translator, wanted, folder):
        return "" if not wanted or _is_english(wanted) else _unknown(wanted, folder)
    language = QLocale(translator.language())
    _speak_for_qt(app, language)
    QCoreApplication.installTranslator(translator)  # the last one is asked first
    app.setLayoutDirection(language.textDirection())
    return ""


def _load(translator: QTranslator, wanted: str, folder: Path) -> bool:
    if wanted.endswith(".qm"):
        return translator.load(wanted)
    if wanted:
        return translator.load("tandem_" + wanted.replace("-", "_"), str(folder))
    for language in QLocale().uiLanguages():
        if translator.load(QLocale(language), "tandem", "_", str(folder)):
            return True
        if _is_english(language):  # needs no file, and what comes after it is less welcome
            return False
    return False


def _is_english(language: str) -> bool:
    """A file's name is no language, however it begins."""
    return not language.endswith(".qm") and QLocale(language).language() == QLocale.Language.English


def _speak_for_qt(app: QApplication, language: QLocale) -> None:
    """Qt's own buttons, menus and keys, where it comes with their translation."""
    translator = QTranslator(app)
    if translator.load(language, "qtbase", "_", QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)):
        QCoreApplication.installTranslator(translator)


def _unknown(wanted: str, folder: Path) -> str:
    codes = sorted(path.stem.removeprefix("tandem_") for path in folder.glob("tandem_*.qm"))
    return tr(
        "Tandem has no translation “{wanted}”. Start it without --language, or with one of: {languages}.",
        wanted=wanted,
        languages=", ".join(["en", *codes]),
    )
