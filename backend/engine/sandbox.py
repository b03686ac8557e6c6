"""Runs a template that came with a downloaded file: no access to Python, a limit on time, a limit on what it builds.

Jinja's immutable sandbox keeps a template from reaching objects that it was not given. It does not keep one from
running for ever or from filling the memory; that is added here. Every operation that makes text or lists is charged
for its size *before* it is carried out, since a single huge one in C cannot be interrupted; and the time that a
rendering may take is limited (``engine.limited``).
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any

from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.ext import Extension, LoopControlExtension
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment

MAX_BUILT = 100_000_000
"""Characters and list entries that one rendering may build in all (a long conversation builds a few million)."""
_MAX_INTEGER = 1_000_000
"""Largest integer that may be given to a filter or be the exponent of a power."""
_WITHOUT = ("center", "filesizeformat", "forceescape", "pprint", "random", "striptags", "urlize", "wordwrap", "xmlattr")
"""Filters that no chat template needs and that pad without limit or take long in one go."""
_WRITING = "capitalize e escape format indent join lower replace string title trim truncate upper urlencode wordcount"
"""Filters that write out what they are given."""
_PADDING_METHODS = frozenset({"center", "expandtabs", "ljust", "maketrans", "rjust", "translate", "zfill"})
_WIDE_FORMAT = re.compile(r"\d{5}|\*|\{[^{}]*:[^{}]*\{")
"""A width of five digits or more, or one that is itself an argument."""


class LimitExceededError(Exception):
    """The template wants to build too much."""


class TemplateRefusedError(Exception):
    """The template itself refused the conversation (``raise_exception``)."""


class _GenerationTag(Extension):
    """``{% generation %}``: marks the assistant's words for training; for rendering it is only its body."""

    tags = {"generation"}  # noqa: RUF012 - jinja2's own declaration

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


class _ChargedCode(CodeGenerator):
    """Sends ``a ~ b`` through the environment, as Jinja's sandbox already does with ``a + b``."""

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        self.write("environment.join_charged((")
        for arg in node.nodes:
            self.visit(arg, frame)
            self.write(", ")
        self.write("))")


class Sandbox(ImmutableSandboxedEnvironment):
    """The environment in which chat templates are compiled and rendered, with the names that they expect."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})
    code_generator_class = _ChargedCode

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[LoopControlExtension, _GenerationTag],
            finalize=self._finalize_charged,
        )
        self._left = MAX_BUILT
        self.concat = self._concat_charged  # type: ignore[method-assign]
        for name in _WITHOUT:
            del self.filters[name]
        for name in _WRITING.split():
            self.filters[name] = self._charged_filter(name, self.filters[name])
        for name in ("batch", "indent", "round", "slice", "truncate"):
            self.filters[name] = _with_small_integers(self.filters[name])
        self.filters["tojson"] = self._to_json
        self.globals.update(raise_exception=_raise_exception, strftime_now=_strftime_now)
        del self.globals["lipsum"]

    def reset(self) -> None:
        """A new allowance, before each rendering."""
        self._left = MAX_BUILT

    def charge(self, size: int) -> None:
        """Take ``size`` characters or entries off the allowance.

        Raises:
            LimitExceededError: nothing is left.
        """
        self._left -= size
        if self._left < 0:
            raise LimitExceededError("it builds too much text")

    def join_charged(self, parts: Iterable[Any]) -> str:
        """``a ~ b``."""
        texts = []
        for part in parts:
            self.charge(self._weigh(part))
            texts.append(str(part))
        return "".join(texts)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Charge for the result before it is made."""
        if operator == "%":
            if isinstance(left, str):
                self._check_format(left)
                self.charge(len(left) + self._weigh(right))
        elif operator == "**":
            _check_power(left, right)
        else:
            self.charge(_size_of_result(operator, left, right))
        return super().call_binop(context, operator, left, right)

    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Charge for the methods of texts that can make them grow."""
        subject = getattr(getattr(function, "__wrapped__", function), "__self__", None)
        name = getattr(function, "__name__", "")
        if isinstance(subject, str) and name in ("format", "format_map", "join", "replace"):
            if name.startswith("format"):
                self._check_format(subject)
            self.charge(self._growth(name, subject, args) + self._weigh([args, kwargs]))
        return super().call(context, function, *args, **kwargs)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        """Also refuse the methods that pad a text to any width."""
        if isinstance(obj, str) and attr in _PADDING_METHODS:
            return False
        return super().is_safe_attribute(obj, attr, value)

    def _charged_filter(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        skip = 1 if hasattr(function, "jinja_pass_arg") else 0

        @functools.wraps(function)
        def charged(*args: Any, **kwargs: Any) -> Any:
            subject, *rest = args[skip:]
            if name == "format":
                self._check_format(str(subject))
            rest += kwargs.values()
            self.charge(self._weigh([subject, rest]) + self._growth(name, subject, rest))
            return function(*args, **kwargs)

        return charged

    def _growth(self, name: str, subject: Any, args: Iterable[Any]) -> int:
        """Upper bound of what a filter or method adds to the size of its arguments."""
        args = list(args)
        if name == "replace" and len(args) >= 2 and isinstance(subject, str):
            return subject.count(str(args[0])) * len(str(args[1]))
        if name == "join":  # a filter's subject is the list, a method's the separator
            separator, items = (subject, args[:1]) if isinstance(subject, str) and args else (args[:1], [subject])
            length = sum(len(i) for i in items if hasattr(i, "__len__"))
            return length * self._weigh(separator)
        if name == "indent" and args:
            width = args[0] if isinstance(args[0], int) else len(str(args[0]))
            return (str(subject).count("\n") + 1) * width
        return 0

    def _check_format(self, text: str) -> None:
        if _WIDE_FORMAT.search(text):
            raise LimitExceededError("it pads a text to an unreasonable width")

    def _weigh(self, value: Any) -> int:
        """Characters and entries in a value, nested ones counted as often as writing them out would."""
        if isinstance(value, str):
            return len(value)
        total, rest = 0, [value]
        while rest:
            item = rest.pop()
            total += len(item) if isinstance(item, str) else 1
            if isinstance(item, dict):
                rest += item.keys()
                rest += item.values()
            elif isinstance(item, (list, tuple, set, frozenset)):
                rest += item
            if total > self._left:
                break
        return total

    def _finalize_charged(self, value: Any) -> Any:
        self.charge(self._weigh(value))
        return value

    def _concat_charged(self, parts: Iterable[str]) -> str:
        texts = []
        for part in parts:
            self.charge(len(part))
            texts.append(part)
        return "".join(texts)

    def _to_json(
        self,
        value: Any,
        ensure_ascii: bool = False,
        indent: Any = None,
        separators: Any = None,
        sort_keys: bool = False,
    ) -> str:
        """``tojson`` as chat templates expect it (transformers'): plain JSON, nothing escaped for HTML."""
        if (indent if isinstance(indent, int) else len(str(indent))) > 100:
            raise LimitExceededError("it indents by an unreasonable width")
        encoder = json.JSONEncoder(ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)
        return self._concat_charged(encoder.iterencode(value))  # in pieces, so that it can be interrupted


def _raise_exception(message: Any = "") -> None:
    raise TemplateRefusedError(str(message)[:500])


def _strftime_now(pattern: Any) -> str:
    return datetime.now().strftime(str(pattern)[:200])


def _with_small_integers(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        for value in (*args, *kwargs.values()):
            if isinstance(value, int) and abs(value) > _MAX_INTEGER:
                raise LimitExceededError("it asks for an unreasonably large number")
        return function(*args, **kwargs)

    return checked


def _size_of_result(operator: str, left: Any, right: Any) -> int:
    """Entries of ``left + right`` or ``left * right``."""
    if operator == "+":
        return _length(left) + _length(right)
    if isinstance(left, int) and isinstance(right, int):
        return left.bit_length() + right.bit_length()
    if isinstance(left, int):
        left, right = right, left
    return _length(left) * max(0, right) if isinstance(right, int) else 1


def _length(value: Any) -> int:
    return len(value) if isinstance(value, (str, list, tuple)) else 1


def _check_power(base: Any, exponent: Any) -> None:
    if isinstance(base, int) and isinstance(exponent, int) and base.bit_length() * abs(exponent) > _MAX_INTEGER:
        raise LimitExceededError("it computes an unreasonably large number")
