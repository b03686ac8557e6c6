"""Text as models write it, from a seed: paragraphs, lists, tables, code and formulas; the same seed, the same text."""

from __future__ import annotations

import random
from collections.abc import Iterator

LETTERS = 4
"""Of a made-up token."""

_SYLLABLES = ("ka", "lo", "mi", "ren", "sta", "ve", "tor", "un", "dal", "pe", "shi", "gor", "an", "el", "ist", "ber")
_CODE = """```python
def {0}_{1}(items: list[int], limit: int = {2}) -> dict[str, int]:
    found: dict[str, int] = {{}}
    for number, item in enumerate(items):  # {3}
        if item > limit:
            found[f"{0}-{{number}}"] = item * {2}
    return found
```"""
_MATHS = r"""With $x_{{{2}}}$ and \({0}_i^2\), {3} \(\frac{{{0}}}{{{2}}}\):

\[
\sum_{{i=1}}^{{{2}}} \text{{{0}}}_i = \frac{{\sqrt{{{2}}}}}{{\text{{{1}}}}} \int_0^{{{2}}} x^{{{2}}}\,dx
\]"""


def word(pick: random.Random) -> str:
    """One of some thousand words, the short ones far more often."""
    return "".join(pick.choice(_SYLLABLES) for _ in range(min(1 + int(pick.expovariate(0.9)), 4)))


def words(pick: random.Random, n: int) -> str:
    """So many words."""
    return " ".join(word(pick) for _ in range(n))


def sentence(pick: random.Random) -> str:
    """A sentence, now and then with something in bold or in code."""
    said = words(pick, pick.randint(6, 16)).capitalize()
    extra = pick.choice(("", "", "", f" **{word(pick)}**", f" `{word(pick)}_{word(pick)}`"))
    return f"{said}{extra}."


def markdown(seed: int, length: int) -> str:
    """At least ``length`` letters of Markdown."""
    pick = random.Random(seed)
    parts: list[str] = []
    size = 0
    while size < length:
        parts.append(_part(pick))
        size += len(parts[-1]) + 2
    return "\n\n".join(parts)


def pieces(text: str) -> Iterator[str]:
    """The text token by token."""
    return (text[at : at + LETTERS] for at in range(0, len(text), LETTERS))


def _part(pick: random.Random) -> str:
    dice = pick.random()
    if dice < 0.55:
        return " ".join(sentence(pick) for _ in range(pick.randint(2, 6)))
    if dice < 0.72:
        return "\n".join(f"- {sentence(pick)}" for _ in range(pick.randint(3, 7)))
    if dice < 0.80:
        return f"## {words(pick, 3).capitalize()}"
    if dice < 0.88:
        rows = "\n".join(f"| {words(pick, 2)} | {pick.randint(1, 999)} | {word(pick)} |" for _ in range(5))
        return f"| {word(pick)} | {word(pick)} | {word(pick)} |\n|---|---:|---|\n{rows}"
    if dice < 0.94:
        return _MATHS.format(word(pick), word(pick), pick.randint(2, 99), words(pick, 5))
    return _CODE.format(word(pick), word(pick), pick.randint(2, 99), words(pick, 5))
