"""PDFs in a process of their own: their text, or a sentence, and neither time nor memory without end."""

from __future__ import annotations

import io
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from pypdf import PdfWriter

from backend.documents import DocumentError, pdf, read
from backend.documents.pdf import read_pdf
from tests import pdfs

ROOT = Path(__file__).resolve().parents[3]
LOOP = [sys.executable, "-c", "while True: pass"]
ONE_PAGE, THEN = '{"pages": 3}\n{"text": "first"}', "import sys\nsys.stdin.buffer.read()\nprint({0!r}, flush=True)\n{1}"


def child(said: str, then: str = "") -> list[str]:
    """A process that says this, as one that has been taken over might."""
    return [sys.executable, "-c", THEN.format(said, then)]


def run(tmp_path: Path, data: bytes, **options: Any) -> tuple[str, str, str]:
    (tmp_path / "x.pdf").write_bytes(data)
    options = {"cancelled": threading.Event(), "tell": lambda _done, _of: None} | options
    with (tmp_path / "x.pdf").open("rb") as file:
        return read_pdf(file, "“x.pdf”", **options)


def refused(tmp_path: Path, data: bytes, **options: Any) -> str:
    with pytest.raises(DocumentError) as caught:
        run(tmp_path, data, **options)
    return caught.value.message


def test_the_text_page_by_page(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    data = pdfs.with_text("The sea\nis wide.", "", "And deep.")
    text, part, note = run(tmp_path, data, tell=lambda done, of: told.append((done, of)))
    assert text == "The sea\nis wide.\n\nAnd deep."
    assert (part, note) == ("", "1 of 3 pages have no text that could be read")
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]
    attachment = read(tmp_path / "x.pdf", threading.Event())
    assert (attachment.name, attachment.language, attachment.size) == ("x.pdf", "", len(data))
    (tmp_path / "x.txt").write_bytes(b"\n" + data)
    assert read(tmp_path / "x.txt", threading.Event()).text == text, "by what is in it"


def test_a_pdf_without_text_is_said_to_be_a_scan(tmp_path: Path) -> None:
    assert "a scan" in refused(tmp_path, pdfs.scan())


def test_a_protected_pdf_is_said_to_be_so(tmp_path: Path) -> None:
    assert "password" in refused(tmp_path, pdfs.protected("word"))
    assert run(tmp_path, pdfs.protected(""))[0] == "Secret", "protected from changes only"


def empty() -> bytes:
    out = io.BytesIO()
    PdfWriter().write(out)
    return out.getvalue()


@pytest.mark.parametrize(
    "data",
    [b"%PDF-1.7\nnothing", pdfs.with_text("x")[:200], b"%PDF-1.7\n" + b"[" * 50_000, empty(), pdfs.in_circles()],
    ids=["no PDF", "half", "deep", "no pages", "in circles"],
)
def test_a_broken_pdf_is_said_to_be_so(tmp_path: Path, data: bytes) -> None:
    assert "is damaged" in refused(tmp_path, data)


def test_a_bomb_does_not_go_off(tmp_path: Path) -> None:
    assert refused(tmp_path, pdfs.bomb())


def test_an_endless_one_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "longer than a minute" in refused(tmp_path, b"", command=LOOP, seconds=0)
    now = 0.0
    monkeypatch.setattr(pdf, "monotonic", lambda: now)

    def tell(done: int, _of: int) -> None:
        nonlocal now
        now += 100 * done

    text, part, _ = run(tmp_path, b"", command=child(ONE_PAGE, "while True: pass"), tell=tell)
    assert (text, part) == ("first", "the text of its first 1 of 3 pages"), "what was read by then is kept"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems limit less")
def test_its_process_may_not_hold_much(tmp_path: Path) -> None:
    code = "from backend.documents import pdf_child\npdf_child._limit()\nbytearray(2_000_000_000)"
    ended = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert "MemoryError" in ended.stderr


def test_one_that_eats_memory_is_ended(tmp_path: Path) -> None:
    eat = "held = bytearray(200_000_000)\nwhile True: pass"
    said = refused(tmp_path, b"", command=child('{"pages": 1}', eat), memory=100_000_000)
    assert "needs more memory" in said


def test_it_is_ended_when_it_is_not_wanted_any_more(tmp_path: Path) -> None:
    cancelled = threading.Event()
    command = child('{"pages": 1}', "while True: pass")
    assert "not read to its end" in refused(
        tmp_path, b"", command=command, cancelled=cancelled, tell=lambda *_: cancelled.set()
    )


@pytest.mark.parametrize("said", ["", "nonsense", "[]", '{"pages": "x"}', '{"text": "x"}{', "{}", "x" * 30_000_000])
def test_a_child_that_says_nonsense_is_a_broken_pdf(tmp_path: Path, said: str) -> None:
    command = [sys.executable, "-c", "print('x' * 30_000_000)"] if len(said) > 99 else child(said)
    assert "is damaged" in refused(tmp_path, b"", command=command)


def test_more_than_an_attachment_holds_is_cut(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-c",
        "import json\nprint('{\"pages\": 9}')\nwhile True: print(json.dumps({'text': 'x' * 999_999}))",
    ]
    text, part, _ = run(tmp_path, b"", command=command)
    assert len(text) == 4_000_000
    assert part == "the text of its first 5 of 9 pages"
