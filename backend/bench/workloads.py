"""Prompts to measure with: from a file, and three built-in ones that show where speculation gains and where not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from backend.errors import EngineError, ErrorCode
from backend.protocol import Message

ALL = "all"
"""What the rows over all categories are called."""
_MOST_BYTES = 100_000_000
"""Of a prompt file; a larger one is something else, perhaps a model."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One prompt of a benchmark."""

    id: str
    category: str
    text: str
    tokens: int | None = None
    """Of its reply at most, where the workload says so."""
    before: tuple[Message, ...] = ()
    """Of the same conversation."""
    later: tuple[str, ...] = ()
    """What is asked next in it."""

    @property
    def messages(self) -> tuple[Message, ...]:
        """The conversation up to this prompt."""
        return (*self.before, Message(role="user", content=self.text))

    def next_turn(self, reply: str) -> Prompt:
        """What is asked once this prompt was answered so; there must be something ``later``."""
        turn = len(self.before) // 2 + 2
        return replace(
            self,
            id=f"{self.id.removesuffix(f'/{turn - 1}')}/{turn}",
            text=self.later[0],
            before=(*self.messages, Message(role="assistant", content=reply)),
            later=self.later[1:],
        )


def load_prompts(path: Path, *, all_turns: bool = False) -> list[Prompt]:
    """A JSON Lines file: one ``{"id", "category", "prompt" or "turns"}`` a line.

    Args:
        path: of the file.
        all_turns: keep the later turns too; else of several the first counts.

    Raises:
        EngineError: FILE_MISSING, or BAD_REQUEST naming the line that is wrong.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(_MOST_BYTES + 1)  # a device has no size, and may have no end
    except (OSError, ValueError) as error:  # a NUL or half a character in the name
        why = error.strerror if isinstance(error, OSError) else "no file can have that name"
        raise EngineError(
            ErrorCode.FILE_MISSING, f"The prompt file {path} cannot be read ({why}); check the name."
        ) from error
    if len(raw) > _MOST_BYTES:
        raise EngineError(
            ErrorCode.BAD_REQUEST,
            f"{path} is more than {_MOST_BYTES / 1e6:,.0f} MB large, so it is hardly a prompt file; choose one with a "
            "JSON object a line.",
        )
    prompts = list(_lines(path, raw, all_turns))
    if not prompts:
        raise _bad(path, 1, "there is no prompt in it")
    return prompts


def part_of(prompts: Sequence[Prompt], part: tuple[int, int] | None) -> Sequence[Prompt]:
    """Every Nth of them from the Ith on (from 1), for ``part`` (I, N); all for None.

    Raises:
        EngineError: BAD_REQUEST where that is none.
    """
    which, of = part or (1, 1)
    kept = prompts[which - 1 :: of]
    if not kept:
        raise EngineError(
            ErrorCode.BAD_REQUEST, f"Part {which} of {of} is empty: there are {len(prompts)} prompts; take fewer parts."
        )
    return kept


def _lines(path: Path, raw: bytes, all_turns: bool) -> Iterator[Prompt]:
    seen: set[str] = set()
    for number, line in enumerate(raw.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            entry = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError) as error:  # neither UTF-8 nor JSON, or nested without end
            raise _bad(path, number, f"it is not a JSON object in UTF-8: {error}") from None
        if not isinstance(entry, dict):
            raise _bad(path, number, "it is not a JSON object")
        category = str(entry.get("category") or "other")
        if category == ALL:
            raise _bad(path, number, f"the category {ALL!r} is the name of the rows over all categories; use another")
        first, *later = _texts(path, number, entry, None if all_turns else 1)
        prompt = Prompt(str(entry.get("id", number)), category, first, later=tuple(later))
        if prompt.id in seen:
            raise _bad(path, number, f"the id {prompt.id!r} stands twice")
        seen.add(prompt.id)
        yield prompt


def _texts(path: Path, number: int, entry: dict[str, Any], most: int | None) -> list[str]:
    turns = [entry["prompt"]] if entry.get("prompt") else entry.get("turns")
    texts = turns[:most] if isinstance(turns, list) else []
    if not texts or not all(isinstance(text, str) and text.strip() for text in texts):
        raise _bad(path, number, "it has neither 'prompt' nor 'turns' with a text")
    return texts


def _bad(path: Path, number: int, why: str) -> EngineError:
    return EngineError(ErrorCode.BAD_REQUEST, f"Line {number} of {path} cannot be used: {why}.", {"line": number})


_CODE = """\
```python
class Basket:
    def __init__(self, owner):
        self.owner = owner
        self.items = {}

    def add(self, name, price, count=1):
        if count < 1:
            raise ValueError("count must be at least 1")
        old_price, old_count = self.items.get(name, (price, 0))
        self.items[name] = (price, old_count + count)

    def remove(self, name):
        if name not in self.items:
            raise KeyError(name)
        del self.items[name]

    def total(self):
        return sum(price * count for price, count in self.items.values())
```"""

DEMO = (
    Prompt(
        "edit",
        "edit this code",
        f"Rename the method total to total_price and change nothing else. Answer with the whole class.\n\n{_CODE}",
    ),
    Prompt(
        "explain",
        "explain this",
        f"Explain in plain words what this class does and one thing that could go wrong with it.\n\n{_CODE}",
    ),
    Prompt(
        "story",
        "tell a story",
        "Tell a short story about a lighthouse keeper who finds a letter in a bottle.",
    ),
)
"""An edit repeats its input, so drafts hold; a story is new at every word, so they do not."""

_CSHARP = """\
```csharp
public class OrderService
{
    private readonly HttpClient _client;
    private readonly IOrderStore _store;

    public OrderService(HttpClient client, IOrderStore store)
    {
        _client = client;
        _store = store;
    }

    public Order Load(int id)
    {
        var cached = _store.Find(id);
        if (cached != null)
        {
            return cached;
        }
        var json = _client.GetStringAsync($"/orders/{id}").Result;
        var order = JsonSerializer.Deserialize<Order>(json);
        _store.Save(order);
        return order;
    }

    public decimal Total(IEnumerable<int> ids)
    {
        decimal sum = 0;
        foreach (var id in ids)
        {
            sum += Load(id).Amount;
        }
        return sum;
    }
}
```"""

_SQL = """\
```sql
WITH monthly AS (
    SELECT c.region, date_trunc('month', o.placed_at) AS month, SUM(o.amount) AS revenue
    FROM orders AS o
    JOIN customers AS c ON c.id = o.customer_id
    WHERE o.status <> 'cancelled'
    GROUP BY c.region, date_trunc('month', o.placed_at)
)
SELECT region, month, revenue,
       revenue - LAG(revenue) OVER (PARTITION BY region ORDER BY month) AS change,
       RANK() OVER (PARTITION BY month ORDER BY revenue DESC) AS place
FROM monthly
ORDER BY month, place;
```"""

THREE = (
    Prompt(
        "async",
        "refactor",
        "Make this class asynchronous: Load and Total become async methods that take a CancellationToken, and nothing "
        f"blocks. Answer with the whole class.\n\n{_CSHARP}",
    ),
    Prompt("sql", "explain", f"Explain step by step what this query returns.\n\n{_SQL}"),
    Prompt("story", "story", "Write a short story about a clockmaker whose clocks run backwards."),
)
"""``--workload three``: much to copy, something to quote, nothing to copy."""

_SHORT = {
    "fact": "Which ocean lies between Africa and Australia? Answer in one short sentence.",
    "product": "How much is 48 times 25? Write the number and nothing else.",
    "expression": "What has to stand in place of ??? so that the function returns the average? Answer with the "
    "expression only.\n\n```python\ndef average(values):\n    return ???\n```",
    "code": "A note from the caretaker: the bins go out on Tuesdays, the spare key hangs behind the boiler, the code "
    "of the cellar door is BRK-5527-T, and the lift is serviced in May.\n\nWhat is the code of the cellar door? Answer "
    "with the code only.",
}
_LENGTHS = (4, 8)

STREAMED = tuple(Prompt(f"{name}-{tokens}", name, text, tokens) for tokens in _LENGTHS for name, text in _SHORT.items())
"""``--workload streamed``: short answers, for a target of which each pass takes seconds."""

WORKLOADS = {"three": THREE, "streamed": STREAMED}
