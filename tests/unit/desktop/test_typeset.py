r"""LaTeX is drawn, or refused with a reason; whatever a model writes, nothing else happens."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop.maths.typeset import LIMIT, RefusedError, typeset

COMMON = [
    r"ax^2 + bx + c = 0",
    r"x_{1,2} = \frac{-b \pm \sqrt{b^2 - 4ac}}{2a}",
    r"\int_{-\infty}^{\infty} e^{-x^2}\,dx = \sqrt{\pi}",
    r"\sum_{n=1}^{\infty} \frac{1}{n^2}, \prod_{i<j} \lim_{x \to 0}",
    r"\begin{pmatrix} a & b \\ c & d \end{pmatrix}",
    r"f(x) = \begin{cases} x^2 & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}",
    r"\begin{align} a &= b \tag{1} \label{eq:a} \\ c &= d \nonumber \end{align}",
    r"\begin{alignat}{2} a &= b \end{alignat}",
    r"\begin{aligned}[t] a &= b \end{aligned}",
    r"\mathbb{R}^n, \mathcal{L}, \bm{v}, \boldsymbol{\alpha}, \operatorname{argmax}_\theta",
    r"\mathop{\mathrm{arg\,max}}_x f \mathrel{R} y \not= z",
    r"\left\{ \frac{\partial f}{\partial x} \,\middle|\, y < 1 \right.",
    r"\text{if a < b & c > d}, \text{if $x<0$}",
    r"\overline{AB} \vec{v} \hat{x} \boxed{E=mc^2} \underbrace{a+b}_{n} \binom{n}{k}",
]


@pytest.mark.parametrize("latex", COMMON)
def test_what_models_write_is_drawn(latex: str) -> None:
    for display in (True, False):
        drawing = typeset(latex, display)
        assert drawing.width > 0.4
        assert drawing.ascent > 0.4
        root = ElementTree.fromstring(drawing.svg)
        assert float(root.attrib["width"]) == pytest.approx(24 * drawing.width, abs=0.02)
        assert "black" not in drawing.svg, "the text's colour, whatever it is"


def test_displayed_is_larger_than_in_a_line() -> None:
    assert typeset(r"\frac{1}{2}", display=True).ascent > 1.2 * typeset(r"\frac{1}{2}", display=False).ascent


@pytest.mark.parametrize(
    ("latex", "thin"),
    [
        (r"\det A", 1),
        (r"\gcd(a, b)", 0),
        (r"a\det B", 2),
        (r"(a)\det B", 2),
        (r"x = \det A", 1),
        (r"\max_i a", 1),
        (r"\max a", 1),
        (r"\operatorname{rank} A^2", 1),
        (r"\operatorname{rank}\det A", 2),
        (r"\sqrt{\det A}", 1),
        (r"\det", 0),
    ],
)
def test_a_named_operator_stands_a_thin_space_from_what_it_is_of(latex: str, thin: int) -> None:
    plain = re.sub(r"\\(?:operatorname\{(\w+)\}|(det|gcd|max))\s?", lambda m: rf"\text{{{m[1] or m[2]}}}", latex)
    wider = typeset(latex, display=False).width - typeset(plain, display=False).width
    space = typeset(r"a\,b", display=False).width - typeset("ab", display=False).width
    assert wider == pytest.approx(thin * space, abs=0.03)


@pytest.mark.parametrize(
    "latex",
    [
        r"\foo{x}",
        r"\ce{H2O}",
        "x^",
        "{",
        r"\frac{1}",
        r"\left( x",
        "",
        r"\phantom{x}",
        r"\text{中文}",
        "x" * (LIMIT + 1),
        "{" * 900 + "}" * 900,
        r"\def\a{\a\a}\a",
        r"\newcommand{\a}[1]{\b{#1#1}}\a{x}",
        r"\rule{900em}{900em}",
        r"\hspace{99999em}x",
    ],
)
def test_the_rest_is_refused(latex: str) -> None:
    with pytest.raises(RefusedError):
        typeset(latex, display=True)


ALLOWED = {"svg", "path", "rect", "ellipse", "g", "defs", "marker", "polygon"}
HOSTILE = r"""
\frac \sqrt \left( \right) \left\{ \right. ^ _ { } & \\ \begin{matrix} \end{matrix} \begin{array} {cc} \text{a ' | ||
\text{<image_href='file:///etc/passwd'/>} \color{url(#x)} \href{file:///x}{y} \class{"/><script>} \style{a:url(x)}
\tag{1} \mathbb \sum \int \limits < > $ % ~ # x 1 é 中 🙂 \ \verb|a| \substack \overset \stackrel \operatorname{a}
\not \cancel \xrightarrow \colorbox{red}{x} \kern1em \hspace{9em} \genfrac \fcolorbox{"}{<}{x} \prime '' &lt; &#0;
"""


@settings(max_examples=300)
@given(st.one_of(st.lists(st.sampled_from(HOSTILE.split()), max_size=14).map(" ".join), st.text()), st.booleans())
def test_hostile_latex_is_drawn_or_refused(latex: str, display: bool) -> None:
    try:
        drawing = typeset(latex, display)
    except RefusedError:
        return
    assert {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(drawing.svg).iter()} <= ALLOWED
    assert not re.search(r"href=|file:|<image|script", drawing.svg)
    assert 0 < drawing.width <= 200


@pytest.mark.parametrize("command", [["-m", "desktop.maths.worker"], ["-m", "desktop.app", "--maths-worker"]])
def test_the_process_answers_line_by_line_and_ends_with_its_input(command: list[str]) -> None:
    asked = "".join(json.dumps([latex, True]) + "\n" for latex in ("x^2", "\\foo", "{" * 1500, "é\n\ud800", "y"))
    done = subprocess.run(
        [sys.executable, *command], input=asked, capture_output=True, text=True, timeout=60, check=True
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [bool(answer) for answer in answers] == [False, True, False, False, False, True], "the first is a greeting"
    assert answers[1]["svg"].startswith("<svg")
