"""Records to JSON-able objects and back, the same way at both ends of the protocol.

Writing is strict (our own records); reading is tolerant: unknown fields are ignored, and a record that a newer or a
foreign server shapes differently reads as None instead of ending the conversation.
"""

from __future__ import annotations

import json
from collections.abc import Hashable
from functools import cache
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")


@cache
def _adapter(kind: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(kind)  # type: ignore[arg-type]


def dump(record: Any) -> Any:
    """A dataclass or pydantic model as plain dicts, lists and scalars."""
    return _adapter(type(record)).dump_python(record, mode="json")  # type: ignore[arg-type]


def to_json(value: Any) -> str:
    """Compact JSON text; non-ASCII text stays as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def to_bytes(value: Any) -> bytes:
    """Compact JSON as UTF-8. Half a character, which a file name or a client's own text may hold, becomes "?"."""
    return to_json(value).encode("utf-8", "replace")


def read(kind: type[T], raw: Any) -> T | None:
    """``raw`` as a ``kind``, or None when it does not have that shape."""
    try:
        return _adapter(kind).validate_python(raw)  # type: ignore[no-any-return, arg-type]
    except ValidationError:
        return None
