"""The texts that ``desktop.language`` is asked for, read from the sources themselves.

Qt's own reader of Python loses keyword arguments and plurals. It reads C++ well, so the texts are handed to it as that.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

CONTEXT = "Tandem"


class TextError(Exception):
    """A call whose text translators would never see; the message says where, and what to do."""


@dataclass(frozen=True, order=True)
class Text:
    """One text to translate. With ``one`` it depends on a number: ``source`` is what is said of many."""

    source: str
    note: str = ""
    one: str = field(default="", compare=False)

    @property
    def plural(self) -> bool:
        """Whether it depends on a number."""
        return bool(self.one)


def collect(folder: Path) -> dict[Text, list[str]]:
    """Every text of the Python files below ``folder``, in their order, with the modules that say it.

    Raises:
        TextError: a text is put together where it should be a literal, or is asked for with and without a number.
    """
    found: dict[Text, list[str]] = {}
    plural: dict[Text, bool] = {}
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder.parent).as_posix()
        for text in _Reader(name, path.read_text("utf-8")).texts():
            if plural.setdefault(text, text.plural) != text.plural:
                raise TextError(
                    f"{name}: “{text.source}” is said elsewhere too, of a number there or here: add a note."
                )
            modules = found.setdefault(text, [])
            if name not in modules:
                modules.append(name)
    return found


def as_cpp(texts: dict[Text, list[str]]) -> str:
    """The texts as calls that ``lupdate`` reads."""
    return "".join(_call(text, modules) for text, modules in texts.items())


class _Reader:
    """The calls in one file. A note may be a constant of the module."""

    def __init__(self, name: str, code: str) -> None:
        self._name = name
        self._tree = ast.parse(code)
        self._constants = {
            target.id: node.value.value
            for node in self._tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }

    def texts(self) -> Iterator[Text]:
        for name, call in self._calls():
            if name == "counted":
                one, many = (self._literal(argument) for argument in call.args[:2])
                yield Text(many, self._note(call), one)
            elif name in ("tr", "marked"):
                for source in self._said(call.args[0], only_literal=name == "marked"):
                    yield Text(source, self._note(call))

    def _calls(self) -> list[tuple[str, ast.Call]]:
        """In the order of the lines."""
        calls = [node for node in ast.walk(self._tree) if isinstance(node, ast.Call)]
        named = [(call.func.id, call) for call in calls if isinstance(call.func, ast.Name)]
        return sorted(named, key=lambda found: (found[1].lineno, found[1].col_offset))

    def _said(self, argument: ast.expr, *, only_literal: bool) -> Iterator[str]:
        if isinstance(argument, ast.IfExp):
            yield from self._said(argument.body, only_literal=only_literal)
            yield from self._said(argument.orelse, only_literal=only_literal)
        elif only_literal or not _looked_up(argument):
            yield self._literal(argument)

    def _literal(self, argument: ast.expr) -> str:
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str) and argument.value:
            return argument.value
        raise TextError(
            f"{self._name}:{argument.lineno}: translators cannot see this text: write it as one literal with {{names}} "
            "in it, and give their values beside it."
        )

    def _note(self, call: ast.Call) -> str:
        for keyword in call.keywords:
            if keyword.arg == "note":
                known = self._constants.get(keyword.value.id) if isinstance(keyword.value, ast.Name) else None
                return known if isinstance(known, str) else self._literal(keyword.value)
        return ""


def _looked_up(argument: ast.expr) -> bool:
    """Whether it is a name, or comes out of a table: then it was marked where it was written."""
    if isinstance(argument, ast.Call):
        return isinstance(argument.func, ast.Attribute) and argument.func.attr == "get"
    return isinstance(argument, ast.Name | ast.Attribute | ast.Subscript)


def _call(text: Text, modules: list[str]) -> str:
    comment = ", ".join(modules) + (f"; of one: “{text.one}”" if text.one and text.one != text.source else "")
    note = _quoted(text.note) if text.note else "nullptr"
    number = ", n" if text.plural else ""
    return (
        f"//: {comment}\nQCoreApplication::translate({_quoted(CONTEXT)}, {_quoted(text.source)}, {note}{number});\n\n"
    )


def _quoted(text: str) -> str:
    for sign, written in (("\\", "\\\\"), ('"', '\\"'), ("\n", "\\n"), ("\t", "\\t")):
        text = text.replace(sign, written)
    return f'"{text}"'
