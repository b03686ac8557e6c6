"""Broken, endless and huge templates: none can hang, or fill the memory."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import gguf
import pytest

from backend.engine.limited import run_limited
from backend.engine.template import ChatTemplate
from backend.engine.vocab import Vocab
from backend.errors import EngineError, ErrorCode
from tests import tiny
from tests.engine.templates import HELLO

GROWING = "{% set ns = namespace(s='ab') %}{% for i in range(60) %}{% set ns.s = GROW %}{% endfor %}{{ ns.s | length }}"
BROKEN = {
    "unclosed call": ('{{ a["foo"(', "line 1"),
    "unclosed comment": ("{#", "empty prompt"),
    "unclosed comment after text": ("{{ 1 }}{# x", "line 1"),
    "unclosed block": ("{% for m in messages %}", "line 1"),
    "unknown filter": ("{{ 'a' | nothing }}", "nothing"),
    "undefined": ("{{ messages[0].content.a.b }}", "no attribute 'a'"),
    "division": ("{{ 1 // 0 }}", "zero"),
    "reaches for Python": ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "unsafe"),
    "changes its input": ("{% set x = messages.append(1) %}", "unsafe"),
    "empty": ("{% if false %}a{% endif %}", "empty prompt"),
    "nested too deep": ("{{ " + "(" * 20_000, "nested too deep"),
    "too long a source": ("a" * 1_000_001, "characters long"),
}
ENDLESS = {
    "loops that print nothing": "{% for i in range(99999) %}" * 3 + "{% endfor %}" * 3,
    "endless printing": "{% for i in range(99999) %}{% for j in range(99999) %}abc{% endfor %}{% endfor %}",
    "collected printing": "{% set x %}"
    + "{% for i in range(99999) %}" * 2
    + "a" * 9999
    + "{% endfor %}" * 2
    + "{% endset %}",
    "recursion": "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
    "recursion twice": "{% macro f(n) %}{% if n %}{{ f(n-1) }}{{ f(n-1) }}{% endif %}{% endmacro %}{{ f(60) }}",
    "nested lists": GROWING.replace("GROW", "[ns.s, ns.s]").replace("| length", ""),
    "nested lists to JSON": GROWING.replace("GROW", "[ns.s, ns.s]").replace("length", "tojson"),
    "nested lists to text": GROWING.replace("GROW", "[ns.s, ns.s]").replace("length", "string"),
}
HUGE = {
    "repeated text": "{{ 'a' * 10**10 }}",
    "repeated list": "{{ [1] * 10**10 }}",
    "range": "{% for i in range(10**9) %}{% endfor %}",
    "range to list": "{{ range(10**9) | list }}",
    "power": "{{ 10 ** (10 ** 10) }}",
    "doubling by +": GROWING.replace("GROW", "ns.s + ns.s"),
    "doubling by ~": GROWING.replace("GROW", "ns.s ~ ns.s"),
    "doubling by format": GROWING.replace("GROW", "'%s%s' % (ns.s, ns.s)"),
    "doubling by the method replace": GROWING.replace("GROW", "ns.s.replace('a', 'aa')"),
    "doubling by the filter replace": GROWING.replace("GROW", "ns.s | replace('a', 'aa')"),
    "doubling by join": GROWING.replace("GROW", "[ns.s, ns.s] | join"),
    "doubling by the method join": GROWING.replace("GROW", "ns.s.join([ns.s, ns.s])"),
    "doubling by the method format": GROWING.replace("GROW", "'{0}{0}'.format(ns.s)"),
    "doubling by set": GROWING.replace("{% set ns.s = GROW %}", "{% set ns.s %}{{ ns.s }}{{ ns.s }}{% endset %}"),
    "doubling by a macro": "{% macro d(s) %}{{ s }}{{ s }}{% endmacro %}" + GROWING.replace("GROW", "d(ns.s)"),
    "join of many": "{{ (['a' * 1000000] * 1000000) | join }}",
    "width in %": "{{ '%1000000000d' % 1 }}",
    "width given to %": "{{ '%*d' % (1000000000, 1) }}",
    "width in the filter format": "{{ '%1000000000d' | format(1) }}",
    "width in the method format": "{{ '{:1000000000d}'.format(1) }}",
    "width given to the method format": "{{ '{:{w}d}'.format(1, w=10**9) }}",
    "padding": "{{ 'a'.ljust(10**9) }}",
    "centring": "{{ 'a' | center(10**9) }}",
    "indenting": "{{ 'a' | indent(10**9, true) }}",
    "indenting many lines": "{{ ('a\n' * 1000000) | indent(1000000) }}",
    "JSON indent": "{{ [1] | tojson(indent=10**9) }}",
    "rounding": "{{ 1 | round(10**9, 'ceil') }}",
    "filler text": "{{ lipsum(10**6) }}",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_template_is_told_in_one_sentence(name: str, qwen: Vocab) -> None:
    source, cause = BROKEN[name]
    template = ChatTemplate(source, qwen)  # never raises: the model can be loaded
    with pytest.raises(EngineError, match="chat template cannot be used") as info:
        template.prompt_tokens(HELLO)
    assert info.value.code == ErrorCode.TEMPLATE_FAILED
    assert cause in info.value.message
    assert "\n" not in info.value.message


@pytest.mark.parametrize("name", [*ENDLESS, *HUGE])
@pytest.mark.alone
def test_no_template_can_hang_or_fill_the_memory(name: str, qwen: Vocab) -> None:
    template = ChatTemplate((ENDLESS | HUGE)[name], qwen, seconds=0.5 if name in ENDLESS else 2)
    start = time.monotonic()
    with pytest.raises(EngineError) as info:
        template.prompt_tokens(HELLO)
    assert info.value.code == ErrorCode.TEMPLATE_FAILED
    assert time.monotonic() - start < 3
    for thread in threading.enumerate():
        if thread.name == "chat template":
            thread.join(2)  # it may still be giving its memory back
            assert not thread.is_alive()


@pytest.mark.alone
def test_the_default_limit_holds(qwen: Vocab) -> None:
    start = time.monotonic()
    with pytest.raises(EngineError, match="did not end within 2 s"):
        ChatTemplate(ENDLESS["loops that print nothing"], qwen).render(HELLO)
    assert 2 <= time.monotonic() - start < 3


def test_a_template_that_failed_once_works_again(qwen: Vocab) -> None:
    source = "{% if messages | length > 1 %}" + ENDLESS["endless printing"] + "{% endif %}ok"
    template = ChatTemplate(source, qwen, seconds=0.3)
    with pytest.raises(EngineError):
        template.render(HELLO)
    assert template.render(HELLO[:1]) == "ok"


def test_error_and_variables_of_a_broken_template(qwen: Vocab) -> None:
    template = ChatTemplate("{{ a", qwen)
    assert template.error is not None
    assert template.error.code == ErrorCode.TEMPLATE_FAILED
    assert template.variables == []
    assert ChatTemplate(None, qwen).error is None


def test_run_limited_hands_results_and_errors_over() -> None:
    assert run_limited(lambda: 7, 1) == 7
    with pytest.raises(ZeroDivisionError):
        run_limited(lambda: 1 / 0, 1)


def test_tiny_files_carry_their_template(tmp_path: Path) -> None:
    reader = gguf.GGUFReader(tiny.tiny_gemma3(tmp_path / "a.gguf"))
    field = reader.get_field("tokenizer.chat_template")
    assert field is not None
    assert field.contents() == tiny.GEMMA
