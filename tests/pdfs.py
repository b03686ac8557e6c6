"""Small PDFs, written byte by byte or by pypdf: with text, without, protected, broken, and made to do harm."""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence

from pypdf import PdfReader, PdfWriter


def pdf(objects: Sequence[bytes]) -> bytes:
    """A file of these objects, numbered from 1; the first is the catalogue."""
    out, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    trailer = b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, len(out))
    return out + b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table) + trailer


def stream(data: bytes, entries: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(data), entries, data)


def with_text(*pages: str) -> bytes:
    """Each page with its lines."""
    contents = []
    for page in pages:
        lines = b" T* ".join(b"(%s) Tj" % line.encode("latin-1") for line in page.split("\n"))
        contents.append(stream(b"BT /F 12 Tf 14 TL 40 700 Td %s ET" % lines))
    return _pages(contents, b"/Font << /F 3 0 R >>")


def scan() -> bytes:
    """One page with a picture of a text, as scanners make it."""
    picture = b"/Type /XObject /Subtype /Image /Width 2 /Height 2 /ColorSpace /DeviceGray /BitsPerComponent 8"
    page = stream(b"q 500 0 0 700 40 40 cm /I Do Q")
    return _pages([page], b"/XObject << /I 4 0 R >>", stream(b"\0\xff\xff\0", picture))


def protected(password: str) -> bytes:
    """The text "Secret", to be opened with a password only."""
    writer = PdfWriter(PdfReader(io.BytesIO(with_text("Secret"))))
    writer.encrypt(password, "owner", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def bomb() -> bytes:
    """A page that unfolds from 200 kB to 200 MB."""
    return _pages([stream(zlib.compress(b"0 " * 100_000_000, 9), b"/Filter /FlateDecode")], b"")


def in_circles() -> bytes:
    """A page tree that contains itself."""
    return pdf([b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 99999999 >>"])


def _pages(contents: Sequence[bytes], resources: bytes, *more: bytes) -> bytes:
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    first = 4 + len(more)
    kids = [first + 2 * n for n in range(len(contents))]
    tree = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(b"%d 0 R" % kid for kid in kids))
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", tree, font, *more]
    for number, content in zip(kids, contents, strict=True):
        page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << %s >> /Contents %d 0 R >>"
        objects += [page % (resources, number + 1), content]
    return pdf(objects)
