"""The worker process with a script in place of llama.cpp: real sockets, protocol, jobs and leash, no model running.

Started as the real one is (``backend.supervisor``). What it does is said in the environment variable ``TANDEM_SCRIPT``,
a JSON object of :class:`Script`'s fields.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

from backend import worker
from backend.protocol import (
    CostTable,
    Delta,
    Finished,
    LoadOptions,
    Message,
    ModelInfo,
    Origin,
    PromptProgress,
    ReplyEvent,
    ReplyRequest,
    RoundRecord,
    Speculation,
    Timings,
    TokenRecord,
)
from backend.server import rig
from tests.long import texts

VARIABLE = "TANDEM_SCRIPT"
TOKENIZER = "scripted"


@dataclass(frozen=True)
class Script:
    """How a reply goes."""

    tokens: int = 1000
    rate: float = 200.0
    """Tokens a second."""
    round: int = 1
    """Tokens that come at once."""
    log: str = ""
    """A file that gets a line for each piece of text once it is handed to the server: (time, question, text)."""

    def variable(self) -> dict[str, str]:
        """For the environment of the program that starts the worker."""
        return {VARIABLE: json.dumps(self.__dict__)}


def told(text: str, per_round: int, start: int) -> Iterator[tuple[str, tuple[TokenRecord, ...], RoundRecord]]:
    """A text as rounds of so many tokens: its part, the tokens that it is made of, and the round."""
    tokens = list(texts.pieces(text))
    source = "lookup" if per_round > 1 else None
    last: Literal["bonus", "plain"] = "bonus" if per_round > 1 else "plain"
    for number, at in enumerate(range(0, len(tokens), per_round)):
        part = tokens[at : at + per_round]
        n, ids = len(part), tuple(range(at, at + len(part)))
        origins: list[Origin] = ["accepted" for _ in part]
        origins[-1] = last
        records = tuple(
            TokenRecord(i, len(piece.encode()), origin, source, number, start + i)
            for i, piece, origin in zip(ids, part, origins, strict=True)
        )
        made = RoundRecord(number, start + at, source, ids[:-1], ids, n - 1, last, n, 1.0, 20.0, 0.2)
        yield "".join(part), records, made


def said(asked: str, tokens: int) -> str:
    """What is answered: always the same to the same question."""
    return texts.markdown(zlib.crc32(asked.encode()), tokens * texts.LETTERS)[: tokens * texts.LETTERS]


def counters(n: int, prompt: int, rate: float, per_round: int) -> Timings:
    """Of a reply after ``n`` tokens."""
    made = Timings(prompt_n=prompt, prompt_ms=400.0, predicted_n=n, predicted_ms=1e3 * max(n - 1, 0) / rate)
    made.passes = max(n // per_round, 1)
    made.plain_ms, made.baseline_ms = 20.0, 20.0 * max(n - 1, 0)
    made.draft_n = made.draft_n_accepted = n - n // per_round
    made.verify_ms = made.predicted_ms * 0.9
    return made


class Pair:
    """What the worker knows of a pair, saying its script."""

    def __init__(self, target: Any, draft: Any, script: Script) -> None:
        self.target, self.draft, self.speculation = target, draft, Speculation()
        self._script = script
        self._log = open(script.log, "a", encoding="utf-8") if script.log else None  # noqa: PTH123, SIM115

    def state_fields(self) -> dict[str, Any]:
        return {
            "target": self.target.info,
            "cost": CostTable(target={1: 20.0, 2: 22.0, 4: 26.0, 8: 40.0}),
            "memory": 1_500_000_000,
            "threads": 1,
        }

    def reply(self, request: ReplyRequest, flag: threading.Event) -> Iterator[ReplyEvent]:
        script = self._script
        asked = request.messages[-1].content.split("\n\n")[-1]  # after a reply without a word two questions are one
        prompt = sum(len(message.content) for message in request.messages) // texts.LETTERS
        yield PromptProgress(prompt, prompt, 0)
        began, n = time.perf_counter(), 0
        for part, tokens, made in told(said(asked, script.tokens), script.round, prompt):
            if flag.wait(max(0.0, began + (n + len(tokens)) / script.rate - time.perf_counter())):
                break
            n += len(tokens)
            yield Delta(part, tokens, counters(n, prompt, script.rate, script.round), (made,))
            self._note(asked, part)
        reason: Literal["cancelled", "stop"] = "cancelled" if flag.is_set() else "stop"
        end = counters(n, prompt, script.rate, script.round)
        yield Finished(reason, end, seed=7, start=prompt, ids=tuple(range(n)), tokenizer=TOKENIZER)

    def count(self, messages: Sequence[Message], _kwargs: dict[str, Any]) -> int:
        return sum(len(message.content) for message in messages) // texts.LETTERS

    def pieces(self, ids: Sequence[int]) -> tuple[str, list[str]]:
        return TOKENIZER, [f"<{token}>" for token in ids]

    def measure(self, *_: Any) -> None:
        """Nothing is there to be measured."""

    settle = measure

    def close(self) -> None:
        if self._log is not None:
            self._log.close()

    def _note(self, asked: str, part: str) -> None:
        if self._log is not None:
            self._log.write(json.dumps((time.time(), asked, part)) + "\n")
            self._log.flush()


class Rig(rig.Rig):
    """The seam to the engine, with a script behind it."""

    script = Script(**json.loads(os.environ.get(VARIABLE, "{}")))

    def start(self) -> None:
        self.engine = "a script"

    def look(self) -> None:
        """There is no device to look at."""

    def flag(self) -> Any:
        return threading.Event()

    def check(self, *_: Any, **__: Any) -> None:
        """Everything fits."""

    def place(self, target: Path, draft: str | None, options: LoadOptions, *_: Any, anyway: bool) -> LoadOptions:
        return options

    def load_target(self, path: Path, model_id: str, *_: Any) -> Any:
        info = ModelInfo(
            id=model_id,
            name=model_id,
            file=path.name,
            architecture="llama",
            quant="F32",
            n_params=10**9,
            size=10**9,
            n_vocab=151_936,
            n_ctx_train=262_144,
            n_ctx=262_144,
            n_layer=28,
            gpu_layers=0,
            tokenizer=TOKENIZER,
            can_truncate=True,
        )
        return SimpleNamespace(info=info, close=lambda: None)

    def pair(self, target: Any, draft: Any) -> Any:
        return Pair(target, draft, self.script)


if __name__ == "__main__":
    rig.Rig = Rig  # type: ignore[misc]
    sys.exit(worker.main())
