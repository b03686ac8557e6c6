"""A scene of the tour: what is read. Alone, without a model: ``python -m tests.long.reading [FOLDER]``.

The replies were written beforehand, as no small model writes all of it, and are opened as any chat is.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.long.tour import Tour

MATHS = r"""## How much a draft gains

With an acceptance rate \(\alpha\) and $k$ drafted tokens, a pass yields on average

\[
E = \sum_{i=0}^{k} \alpha^i = \frac{1 - \alpha^{k+1}}{1 - \alpha}, \qquad
t_{\text{token}} \approx \frac{t_{\text{pass}} + k \cdot t_{\text{draft}}}{E}.
\]

| $\alpha$ | $k = 4$ | $k = 8$ | What it means |
|:--------:|--------:|--------:|---------------|
| 0.6 | 2.31 | 2.47 | longer drafts gain next to nothing |
| 0.8 | 3.36 | 4.33 | `k = 4` is 2.8× at a draft cost of 5 % |
| 0.9 | 4.10 | 6.13 | here \(E_8 - E_4 = 2.03\) |

1. In Python:

   ```python
   def tokens_per_pass(a: float, k: int) -> float:
       return (1 - a ** (k + 1)) / (1 - a) if a < 1 else k + 1  # Eq. (1)
   ```

   For \(\alpha \to 1\) this is $k + 1$, by l'Hôpital's rule.
2. A graphics card for $300 or $400 changes \(t_{\text{pass}}\), not $E$.
   - What is rejected costs \(k \cdot t_{\text{draft}}\) and nothing else.
     - With a matrix \(A = \begin{pmatrix} a & b \\ c & d \end{pmatrix}\), \(\det A = ad - bc\).
"""
RTL = """## مرحبا

هذه فقرة بالعربية فيها كلمة English ومعادلة $E = mc^2$ ورقم 123.

- عنصر أول
  - عنصر متداخل مع `code`
- An English item

זוהי פסקה בעברית עם מילה English, ומספר 12,345.

| العمود الأول | العمود الثاني |
|---|---|
| قيمة | 42 |

```python
print("مرحبا")  # code keeps its direction
```

> اقتباس قصير

中文段落：设 $x$ 是实数，则 $x^2 \\ge 0$。日本語の文章も、한국어 문장도 있습니다. Emoji: 🙂 👩‍👩‍👧 ✅
"""


THOUGHT = """The person asks which number comes next: 2, 3, 5, 9, 17.

The differences are 1, 2, 4, 8: each doubles. So the next one is 16.
</think>

The next number is **33**: each difference is twice the one before.
"""


def reading(tour: Tour) -> None:
    """Maths, a table, lists with code in them; scripts that are read from the right; and thinking, unfolded."""
    from desktop.widgets.blocks import Thinking

    figures = next((m.timings for m in reversed(tour.desktop.conversation.messages) if m.timings), None)
    size = tour.window.size()
    for name, asked, text in (
        ("reading", "How much does a draft gain, in formulas and in code?", MATHS),
        ("rtl", "مرحبا! اكتب شيئًا بالعربية والعبرية.", RTL),
        ("thinking", "Which number comes next: 2, 3, 5, 9, 17?", THOUGHT),
    ):
        open_written(tour, asked, text, figures)
        bar = tour.window.page.messages.verticalScrollBar()
        tour.window.resize(size.width(), size.height() + bar.maximum())  # no line is cut at the end
        for thinking in tour.window.page.messages.findChildren(Thinking):
            thinking.unfold()
        tour.settle()
        bar.setValue(0)
        tour.picture(name)
        tour.dark(f"{name}-dark")
        tour.window.resize(size)


def open_written(tour: Tour, asked: str, text: str, figures: dict[str, Any] | None = None) -> None:
    """Put a reply that was written beforehand into the store, under figures of another, and show it whole."""
    from desktop.store.shapes import OneChat, OneMessage

    messages = [
        OneMessage(id=1, role="user", content=asked, created=time.time()),
        OneMessage(
            id=2,
            parent=1,
            role="assistant",
            content=f"<think>\n{text}" if "</think>" in text else text,
            created=time.time(),
            target="qwen2.5-coder-1.5b",
            timings=figures,
        ),
    ]
    chat = OneChat(title=asked, created=time.time(), updated=time.time(), tip=2, messages=messages)
    number = tour.desktop.store.add_whole(chat).result()
    tour.window.sidebar.refresh()
    tour.window.open_chat(number)
    tour.settle()
    tour.until(lambda: not tour.desktop.maths.busy)
    tour.settle()


def main() -> None:
    """Only this scene."""
    from tests.long.display import display
    from tests.long.tour import Tour

    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "docs" / "images"
    with display(), tempfile.TemporaryDirectory() as home:
        os.environ["TANDEM_HOME"] = home
        tour = Tour(folder)
        tour.desktop.theme.choose("light")
        tour.window.show()
        tour.window.resize(1100, 900)
        reading(tour)
        tour.window.close()
        tour.desktop.close()


if __name__ == "__main__":
    main()
