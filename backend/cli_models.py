"""``tandem models``: list, get, add, requantize, delete and remove models on the command line."""

from __future__ import annotations

import argparse
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from backend.cli import complain
from backend.cli_line import Line, size_text
from backend.cli_list import list_models
from backend.errors import EngineError, ErrorCode
from backend.library import copies
from backend.library.elsewhere import models_in
from backend.library.hub import discard, download
from backend.library.library import Library, LibraryModel
from backend.library.local import OwnFiles
from backend.library.paths import expanded
from backend.library.progress import Meter
from backend.library.removing import delete, own_download
from backend.text import one_line

_STARTER = "starter"
_COPIES = "copies"


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``models`` and its commands; each sets ``run``, a function of the arguments that gives the exit code."""
    models = subparsers.add_parser("models", help="list, get, add, requantize, delete and remove models")
    commands = models.add_subparsers(dest="models_command", required=True, metavar="COMMAND")

    listing = commands.add_parser("list", help="models of the catalogue and on this machine")
    listing.add_argument("--json", action="store_true", help="as JSON")
    listing.add_argument(
        "--all", action="store_true", help="also the models that only the tests use and that are not here"
    )
    listing.set_defaults(run=_guarded(list_models))

    get = commands.add_parser("get", help="download models and check them")
    get.add_argument("ids", nargs="+", metavar="ID", help="id, id:QUANT, or 'starter' for the starter pair")
    get.set_defaults(run=_guarded(_get))

    add = commands.add_parser("add", help="add GGUF files, or folders of them, from disk")
    add.add_argument("paths", nargs="+", metavar="PATH", type=_path)
    add.set_defaults(run=_guarded(_add))

    requantize = commands.add_parser("requantize", help="write a copy of a model in another tensor type")
    requantize.add_argument("source", metavar="SRC", help="id or path")
    requantize.add_argument("type", metavar="TYPE", help="such as Q4_0, Q2_K, Q8_0, BF16")
    requantize.add_argument("out", metavar="OUT", nargs="?", type=Path, help="default: beside the source")
    requantize.set_defaults(run=_guarded(_requantize))

    deletion = commands.add_parser("delete", help="delete models that were downloaded, whole or not")
    deletion.add_argument("ids", nargs="+", metavar="ID", help="as listed")
    deletion.set_defaults(run=_guarded(_delete))

    remove = commands.add_parser(
        "remove", help="delete cheaper copies of drafts, forget files and folders that were added"
    )
    remove.add_argument("ids", nargs="+", metavar="ID", help="as listed, or an added folder; 'copies' are all copies")
    remove.set_defaults(run=_guarded(_remove))


def _guarded(command: Any) -> Any:
    """One sentence on stderr and a non-zero exit for what the surroundings did wrong."""

    def run(args: argparse.Namespace) -> int:
        try:
            code: int = command(args)
            return code
        except EngineError as error:
            complain(error.message)
            return 1
        except KeyboardInterrupt:
            print("\ntandem: stopped; a download goes on from here the next time.", file=sys.stderr)
            return 130

    return run


# ---------------------------------------------------------------------------------------------------------------------


def _get(args: argparse.Namespace) -> int:
    library = Library()
    ids: list[str] = []
    for wanted in args.ids:
        starter = library.starter() if wanted == _STARTER else None
        ids += [starter.target, starter.draft] if starter else [wanted]
    for model_id in dict.fromkeys(ids):
        _get_one(library, model_id)
    return 0


def _get_one(library: Library, model_id: str) -> None:
    named = library.catalogue.find(model_id)
    if named is None:
        path = library.resolve(model_id)  # an own file, or the error that names near matches
        print(f"{model_id}: {path}; your own file, there is no published hash to check it with")
        return
    entry, variant = named
    line = Line(model_id)
    if not library.find(model_id).installed:
        known = entry.licence
        line.say(f"licence {known.name}, {known.link}" if known else "its licence is not known to the catalogue")
    paths = download(entry, variant, line.show, threading.Event(), line.say, line.check)
    line.end()
    size = sum(p.stat().st_size for p in paths)
    print(f"{model_id}: {paths[0]} ({size_text(size)}), verified")


# ---------------------------------------------------------------------------------------------------------------------


def _path(given: str) -> Path:
    if not given:  # a variable that is not set; the folder that one is in was not meant
        raise argparse.ArgumentTypeError("an empty name")
    return Path(given)


def _add(args: argparse.Namespace) -> int:
    library = Library()
    failed = 0
    for path in args.paths:
        known = {model.id for model in OwnFiles().models()}
        try:
            if expanded(path).is_dir():
                print(_added_folder(path))
                continue
            model = library.add(path)
        except EngineError as error:
            complain(error.message)
            failed = 1
            continue
        print(_added(model, before=model.id in known))
    return failed


def _added_folder(folder: Path) -> str:
    count = len(models_in([OwnFiles().add_folder(folder)], "folder"))
    return one_line(f"{folder}: {count} {'model' if count == 1 else 'models'}, listed from now on; nothing was copied")


def _added(model: LibraryModel, *, before: bool) -> str:
    """What was added under which name, which a person does not know yet, and from where: the file is not copied."""
    kind = model.facts.kind if model.facts else "model"
    usable = f"use it with --target {model.id}"
    if kind != "model":
        usable = f"it is of the kind '{kind}' and cannot be loaded as a model"
    how = "was added before" if before else "added"
    return one_line(f"{model.id} {how} ({model.quant}, {size_text(model.size)}), read from {model.files[0]}; {usable}")


def _requantize(args: argparse.Namespace) -> int:
    # the engine's library is loaded only when it is needed
    from backend.engine.cancel import CancelFlag
    from backend.engine.quantize import quantize

    given = expanded(args.source)
    source = given if given.is_file() else Library().resolve(args.source)
    out = args.out or source.with_name(f"{source.stem}-{args.type.lower()}.gguf")
    if out.resolve() == source.resolve():
        raise EngineError(ErrorCode.BAD_REQUEST, "The copy would overwrite its source; name another file.")
    line = Line(out.name)
    size = source.stat().st_size

    def progress(fraction: float) -> None:
        meter.at(int(fraction * size))

    meter = Meter(size, line.show)
    quantize(source, out, args.type.upper(), progress, CancelFlag())
    line.end()
    print(f"{out} ({size_text(out.stat().st_size)})")
    return 0


# ---------------------------------------------------------------------------------------------------------------------


def _remove(args: argparse.Namespace) -> int:
    made = {copy.id: copy for copy in copies.listed()}
    wanted = [each for given in args.ids for each in (made if given == _COPIES else [given])]
    failed = 0
    for model_id in dict.fromkeys(wanted):
        try:
            if (copy := made.get(model_id)) is None:
                _forget(model_id)
            elif copies.remove(copy.file):
                print(f"{model_id}: deleted ({size_text(copy.size)})")
            else:
                complain(f"{copy.file} could not be deleted; it may be in use.")
                failed = 1
        except EngineError as error:
            complain(error.message)
            failed = 1
    if _COPIES in args.ids:
        left = copies.sweep()  # of a worker that was killed while it wrote
        if left:
            print(f"{left} leftover {'file' if left == 1 else 'files'} deleted")
        elif not made:
            print("There are no copies.")
    return failed


def _forget(given: str) -> None:
    own, folder = OwnFiles(), expanded(given).absolute()
    if folder in own.folders():
        own.remove_folder(folder)
        print(one_line(f"{given}: forgotten; the folder stays as it is"))
        return
    model = Library().find(given)
    if model.source != "own":
        raise EngineError(ErrorCode.BAD_REQUEST, _not_added(model, own.folders()))
    Library().remove(model.id)
    print(f"{model.id}: forgotten; the file stays where it is")


def _not_added(model: LibraryModel, folders: Sequence[Path]) -> str:
    for folder in folders:
        if model.source == "folder" and model.files[0].is_relative_to(folder):
            return f"{model.id} lies in a folder that was added; 'tandem models remove {folder}' forgets the folder."
    hint = f"; 'tandem models delete {model.id}' deletes it" if own_download(model) else ""
    return f"{model.id} is neither a copy nor a file that was added from disk{hint}."


def _delete(args: argparse.Namespace) -> int:
    failed = 0
    for model_id in dict.fromkeys(args.ids):
        try:
            print(f"{model_id}: deleted ({size_text(_deleted(Library().find(model_id)))})")
        except EngineError as error:
            complain(error.message)
            failed = 1
    return failed


def _deleted(model: LibraryModel) -> int:
    """Bytes that are free now."""
    if own_download(model) and not model.missing:
        return delete(model)
    if model.fetched and model.entry is not None and model.variant is not None:
        discard(model.entry, model.variant)
        return model.fetched
    if not any(path.exists() for path in model.files):
        raise EngineError(ErrorCode.BAD_REQUEST, f"{model.id} is not on this machine; there is nothing to delete.")
    raise EngineError(
        ErrorCode.BAD_REQUEST,
        f"{model.id} was not downloaded by Tandem, so it is not deleted; its files lie in {model.files[0].parent}.",
    )
