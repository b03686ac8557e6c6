"""Files as they lie on disks: read as what they are, or refused in a sentence."""

from __future__ import annotations

import os
import re
import sys
import threading
from pathlib import Path

import pytest

from backend.documents import MOST_CHARACTERS, Attachment, DocumentError, from_paste, read
from backend.documents.decoding import LATIN
from backend.documents.limits import MOST_BYTES


def reading(path: Path) -> Attachment:
    return read(path, threading.Event())


def refused(path: Path) -> str:
    with pytest.raises(DocumentError) as caught:
        reading(path)
    assert re.fullmatch(r"“.+”.+\.", caught.value.message), "one line that names it"
    return caught.value.message


@pytest.mark.parametrize(
    ("data", "text", "note"),
    [
        (b"plain", "plain", ""),
        ("é 🌊".encode(), "é 🌊", ""),
        (b"\xef\xbb\xbfmark", "mark", ""),
        (b"\xff\xfe" + "é🌊".encode("utf-16-le"), "é🌊", ""),
        (b"\xfe\xff" + "é🌊".encode("utf-16-be"), "é🌊", ""),
        (b"\xff\xfe\0\0" + "é🌊".encode("utf-32-le"), "é🌊", ""),
        (b"\xff\xfea", "\ufffd", ""),
        ("na\u00efve caf\u00e9".encode("latin-1"), "naïve café", LATIN),
        (b"\x93quoted\x94 \xe9", "“quoted” é", LATIN),
        (b"\x81\xe9t\xe9", "\x81été", LATIN),
        (b"a\r\nb\rc\nd", "a\nb\nc\nd", ""),
        (b"x" * 400 + b"\0" + b"y", "x" * 400 + "y", ""),
        (b"\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m", ""),
    ],
)
def test_texts(tmp_path: Path, data: bytes, text: str, note: str) -> None:
    path = tmp_path / "notes.md"
    path.write_bytes(data)
    assert reading(path) == Attachment("notes.md", "markdown", text, len(data), note=note)


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("x.txt", b"", "is empty"),
        ("x.txt", b" \r\n\t", "nothing but blanks"),
        ("x.txt", b"\xef\xbb\xbf", "nothing but blanks"),
        ("x.bin", bytes(range(256)) * 10, "is not a text"),
        ("x.txt", b"\0\1\2\3", "is not a text"),
        ("x.png", b"\x89PNG", "is a picture"),
        ("x.JPEG", b"text", "is a picture"),
        ("x.docx", b"PK\3\4", "Save it as PDF"),
        ("x\ny\u202e.txt", b"", "“x y.txt” is empty"),
    ],
)
def test_what_is_refused(tmp_path: Path, name: str, data: bytes, said: str) -> None:
    (tmp_path / name).write_bytes(data)
    assert said in refused(tmp_path / name)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    assert "is a folder" in refused(tmp_path)
    assert "not there any more" in refused(tmp_path / "gone.txt")
    assert "could not be read" in refused(tmp_path / "nul\0.txt")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither")
def test_pipes_and_what_may_not_be_read_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "no ordinary file" in refused(tmp_path / "pipe")
    assert "no ordinary file" in refused(Path("/dev/zero"))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "could not be read" in refused(tmp_path / "loop")
    (tmp_path / "mine").write_text("secret")
    (tmp_path / "mine").chmod(0)
    if os.geteuid() != 0:
        assert "could not be read: Permission denied" in refused(tmp_path / "mine")


def test_huge_files_are_refused_before_they_are_read(tmp_path: Path) -> None:
    for name in ("big.log", "big.pdf"):
        with (tmp_path / name).open("wb") as file:
            file.write(b"%PDF-1.7" if name == "big.pdf" else b"text")
            file.truncate(200_000_000)
    assert "may have 8.0 MB" in refused(tmp_path / "big.log")
    assert "a PDF may have" in refused(tmp_path / "big.pdf")
    (tmp_path / "wide.txt").write_bytes(b"x" * MOST_BYTES)
    assert f"{MOST_CHARACTERS:,}" in refused(tmp_path / "wide.txt")


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("a.py", "python"),
        ("A.CS", "csharp"),
        ("Makefile", "make"),
        ("Dockerfile", "docker"),
        ("x.unknown", ""),
        ("x", ""),
    ],
)
def test_languages(tmp_path: Path, name: str, language: str) -> None:
    (tmp_path / name).write_text("x")
    assert reading(tmp_path / name).language == language


def test_every_language_is_one_that_code_is_coloured_in() -> None:
    from pygments.lexers import get_lexer_by_name

    from backend.documents.languages import _BY_ENDING, _BY_NAME

    for word in {*_BY_ENDING.values(), *_BY_NAME.values()} - {"csv"}:
        get_lexer_by_name(word)


def test_pasted_text() -> None:
    assert from_paste("a\r\nb\0\udc00", 1) == Attachment("Pasted text", "", "a\nb?", 4)
    assert from_paste("x", 3).name == "Pasted text 3"
    with pytest.raises(DocumentError, match="Paste the part that matters"):
        from_paste("x" * (MOST_CHARACTERS + 1), 1)
