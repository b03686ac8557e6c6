"""Texts from outside, checked; and names and sizes as people read them."""

from __future__ import annotations

from backend.errors import EngineError, ErrorCode


def encode_text(text: str, what: str = "The text") -> bytes:
    """UTF-8 of a text that came from outside.

    Args:
        text: what JSON or a command line held: it may be no text.
        what: names it in the error.

    Raises:
        EngineError: BAD_REQUEST for half of a surrogate pair, which passes JSON but has no encoding.
    """
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        half = f"U+{ord(text[error.start]):04X}"
        raise EngineError(
            ErrorCode.BAD_REQUEST,
            f"{what} holds half of a character ({half}), which no model can read; remove it.",
            {"field": what, "character": half, "position": error.start},
        ) from None


def check_typed(text: str, what: str) -> None:
    """A text from a terminal or a command line, where bytes that are no characters arrive as lone surrogates.

    Raises:
        EngineError: BAD_REQUEST.
    """
    if (bad := next((c for c in text if "\udc80" <= c <= "\udcff"), None)) is not None:
        raise EngineError(
            ErrorCode.BAD_REQUEST,
            f"{what} is not valid UTF-8 (byte 0x{ord(bad) - 0xDC00:02X}); write it again, or convert it first.",
            {"field": what, "byte": ord(bad) - 0xDC00},
        )
    encode_text(text, what)


def shown_size(n: int) -> str:
    """Bytes for people, in decimal units as disks and hubs count."""
    if n < 1e3:
        return f"{n} byte{'s' * (n != 1)}"
    if n < 1e5:
        return f"{n / 1e3:.1f} KB"
    return f"{n / 1e6:.1f} MB" if n < 1e8 else f"{n / 1e9:.1f} GB"


def shown_sizes(wanted: int, free: int) -> tuple[str, str]:
    """Two sizes for one sentence, with more digits where they differ and would read alike."""
    shown = shown_size(wanted), shown_size(free)
    if wanted == free or shown[0] != shown[1]:
        return shown
    for digits in (2, 3, 6):
        shown = f"{wanted / 1e9:.{digits}f} GB", f"{free / 1e9:.{digits}f} GB"
        if shown[0] != shown[1]:
            return shown
    return f"{wanted:,} bytes", f"{free:,} bytes"


def shown_name(name: str) -> str:
    """A file name for people and for JSON: what is not UTF-8 in it as "?" (Linux allows any bytes)."""
    return name.encode("utf-8", "replace").decode("utf-8")


def short_line(text: str, most: int = 120) -> str:
    """A name that stands in a file: one line of at most ``most`` characters, none that is not seen or steers others."""
    seen = " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())
    return seen if len(seen) <= most else f"{seen[: most - 1]}…"


def harmless(text: str) -> str:
    """Text for a terminal: control characters, with which a file could steer it, as pictures; lines and tabs stay.

    What turns the direction of the text round it, and could make a name look like another, is left out.
    """
    return text.translate(_PICTURES)


_PICTURES: dict[int, int | None] = {127: 0x2421}
_PICTURES |= {code: 0x2400 + code for code in range(32) if chr(code) not in "\t\n"}
_PICTURES |= dict.fromkeys(range(128, 160), 0xFFFD)
_PICTURES |= dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)])


def one_line(text: str) -> str:
    """A sentence for a terminal: harmless, and on one line whatever names it quotes."""
    return harmless(text.replace("\n", "\u240a"))
