"""The options that name a target and a draft, shared by ``chat``, ``bench`` and ``demo``, and what they stand for.

Ids come from the library. A path is handed to the worker under an id made from its file name (``Supervisor(models=)``);
nothing is added to the library by using a file once. Files are checked here, from their headers, so that a wrong one is
refused before a large target is loaded.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from backend.errors import EngineError, ErrorCode
from backend.library.gguf import GgufFacts, read_model, split_parts, unfit_kind
from backend.library.library import Library, LibraryModel
from backend.library.local import slug
from backend.library.pairing import check_pair
from backend.library.paths import data_dir, expanded
from backend.protocol import LoadOptions, LoadRequest, Sampling

NO_DRAFT = ("lookup", "none")


@dataclass(frozen=True)
class PairChoice:
    """Which models to load. ``files`` are those given as paths, by the id that the worker knows them by."""

    target: str
    draft: str | None
    files: dict[str, Path] = field(default_factory=dict)
    drafting: bool = True
    """False for ``--draft none``: nothing is to be proposed."""
    draft_named: bool = True
    """Whether the draft was asked for by name; else it is a suggestion."""
    notes: tuple[str, ...] = ()
    """Sentences the person should read."""
    sampling: Sampling = field(default_factory=Sampling)
    """What the target's publisher recommends, where it is known."""

    def load_request(self, args: argparse.Namespace, *, settle: bool = False) -> LoadRequest:
        """The request that loads the pair with the options that were given; ``settle`` as in the protocol."""
        anyway = getattr(args, "load_anyway", False)
        return LoadRequest(
            target=self.target, draft=self.draft, options=load_options(args), anyway=anyway, settle=settle
        )


def add_pair_options(parser: argparse.ArgumentParser, *, draft: bool = True) -> None:
    """``--target``, ``--draft`` and its cheaper copy (where one is meant), and where they go in memory."""
    parser.add_argument("--target", metavar="ID|PATH", help="the model that answers (default: the starter target)")
    if draft:
        parser.add_argument("--draft", metavar="ID|PATH|lookup|none", help="default: one that fits, if it is here")
        parser.add_argument(
            "--cheaper-draft", action="store_true", help="make a cheaper copy of the draft once, use it where it pays"
        )
    parser.add_argument(
        "--gpu-layers", type=whole(0), metavar="N", help="target layers on the GPU (default: what fits)"
    )
    parser.add_argument(
        "--draft-gpu-layers", type=whole(0), metavar="N", help="draft layers on the GPU (default: all or none)"
    )
    parser.add_argument("--context", type=whole(64, 4_194_304), metavar="N", help="context in tokens (default: 8192)")
    parser.add_argument("--threads", type=whole(1, 1024), metavar="N", help="CPU threads (default: physical cores)")
    parser.add_argument(
        "--load-anyway", action="store_true", help="also what does not fit into the memory that is free"
    )
    parser.add_argument(
        "--strict",
        action=argparse.BooleanOptionalAction,
        help="only passes that give plain decoding's text to the bit (default: where that costs little)",
    )


def load_options(args: argparse.Namespace) -> LoadOptions:
    """The options as the worker takes them."""
    return LoadOptions(
        n_ctx=args.context,
        gpu_layers=args.gpu_layers,
        draft_gpu_layers=args.draft_gpu_layers,
        threads=args.threads,
        strict=args.strict,
        cheaper_draft=getattr(args, "cheaper_draft", False),
    )


def whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """An argparse type: a whole number from ``least`` to ``most``."""

    def read(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None
        if value < least or (most is not None and value > most):
            wanted = f"{least} or more" if most is None else f"from {least} to {most}"
            raise argparse.ArgumentTypeError(f"must be {wanted}, but is {value}")
        return value

    return read


def temperature(text: str) -> float:
    """An argparse type: a temperature."""
    try:
        value = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None
    if not 0 <= value <= 100:  # also what is not a number at all
        raise argparse.ArgumentTypeError(f"must be from 0 (greedy) to 100, but is {text}")
    return value


def choose_pair(target: str | None, draft: str | None) -> PairChoice:
    """What ``--target`` and ``--draft`` stand for, checked as far as the files' headers go.

    Raises:
        EngineError: the first thing that is wrong with a name, a file or the pair.
    """
    chooser = _Chooser(Library())
    return chooser.choose(target, draft)


class _Chooser:
    def __init__(self, library: Library) -> None:
        data_dir()  # where nothing can be written, the engine will not work either
        self._library = library
        self._files: dict[str, Path] = {}
        self._notes: list[str] = [library.problem.message] if library.problem else []

    def choose(self, target: str | None, draft: str | None) -> PairChoice:
        name, facts = self._find(target) if target is not None else self._starter()
        entry = self._entry(name)
        chosen = None
        if draft is None:
            chosen = self._default_draft(entry)
        elif draft not in NO_DRAFT:
            chosen, draft_facts = self._find(draft)
            verdict = check_pair(facts, draft_facts)
            if not verdict.ok:
                raise verdict.error()
            if verdict.warning:
                self._notes.append(verdict.warning)
        return PairChoice(
            name, chosen, self._files, draft != "none", draft is not None, tuple(self._notes), _recommended(entry)
        )

    def _find(self, given: str) -> tuple[str, GgufFacts]:
        """Id and facts of a model named by id or path."""
        if not is_path(given):
            self._library.resolve(given)  # says what is missing, and how to get it
            model = self._library.find(given)
            if model.problem is not None:
                raise model.problem
            assert model.facts is not None
            return model.id, usable(model.facts)
        path = expanded(given)
        facts = file_facts(path)
        name = slug(path)
        while self._files.get(name, path) != path:
            name += "-2"
        self._files[name] = path
        return name, facts

    def _starter(self) -> tuple[str, GgufFacts]:
        starter = self._library.starter().target
        if not self._library.find(starter).installed:
            raise EngineError(
                ErrorCode.FILE_MISSING,
                "The starter models are not here yet; run 'tandem models get starter', or name a model with --target.",
                {"model": starter},
            )
        return self._find(starter)

    def _entry(self, name: str) -> LibraryModel | None:
        return None if name in self._files else self._library.find(name)

    def _default_draft(self, target: LibraryModel | None) -> str | None:
        """The first draft of the catalogue's list that is here."""
        wanted = target.entry.drafts if target is not None and target.entry is not None else ()
        for name in wanted:
            if self._library.find(name).state == "installed":
                return name
        if wanted:
            self._notes.append(
                f"No draft model for it is here, so drafts come from prompt lookup; 'tandem models get {wanted[0]}' "
                "gets one."
            )
        return None


def file_facts(path: Path) -> GgufFacts:
    """Of a model's file that was named on the command line.

    Raises:
        EngineError: it is not there, cannot be read, or is no model of its own.
    """
    if not path.exists():
        raise EngineError(ErrorCode.FILE_MISSING, f"There is no file {path}; check the name.", {"path": str(path)})
    return usable(read_model(split_parts(path)))


def usable(facts: GgufFacts) -> GgufFacts:
    """The same facts.

    Raises:
        EngineError: the file is no model of its own.
    """
    if (unfit := unfit_kind(facts)) is not None:
        raise unfit
    return facts


def is_path(given: str) -> bool:
    """Whether a name on the command line means a file rather than a library id."""
    separators = [os.sep, os.altsep] if os.altsep else [os.sep]
    return any(s in given for s in separators) or given.lower().endswith(".gguf") or Path(given).is_file()


def _recommended(model: LibraryModel | None) -> Sampling:
    given = model.entry.recommended() if model is not None and model.entry is not None else None
    return given or Sampling()
