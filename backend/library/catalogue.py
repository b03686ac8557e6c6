"""The catalogue: which models Tandem knows, where they come from, and what was published about them.

The shipped one is ``models.yaml`` (inside the package when installed, at the root of a source checkout); a person's
own, ``models.yaml`` in the data folder, is laid over it entry by entry. A mistake in the own one never stops the app:
the shipped one is used and the mistake is reported.
"""

from __future__ import annotations

from importlib import resources
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from backend.errors import EngineError, ErrorCode
from backend.library.gguf_limits import MOST_LAYERS
from backend.library.paths import data_path
from backend.protocol import Sampling

Count = Annotated[int, Field(ge=1)]
REPO = r"^\w[\w.-]*/\w[\w.-]*$"
"""Publisher and name on the hub; they are folders' names too."""
_MAX_FILE = 2**20


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ModelFile(_Strict):
    """One file in the hub repository; ``size`` in bytes, ``sha256`` in hex, both None where not published."""

    name: str
    size: Count | None = None
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None

    @field_validator("name")
    @classmethod
    def _plain(cls, value: str) -> str:
        path = PurePosixPath(value)
        if path.is_absolute() or ".." in path.parts or "\\" in value or ":" in value or path.suffix != ".gguf":
            raise ValueError("must be a relative path that ends in .gguf")
        return value


class Mirror(_Strict):
    """Where the file also lies, split over wheels.

    In ``package`` and ``member``, ``{n}`` stands for 1, 2, …, ``{nn}`` for 01, 02, … and ``{zz}`` for 00, 01, ….
    """

    package: Annotated[str, Field(pattern=r"^[A-Za-z0-9{}._-]+$")]
    version: Annotated[str, Field(pattern=r"^[0-9][0-9A-Za-z.]*$")]
    parts: Annotated[int, Field(ge=1, le=99)]
    member: str

    def part(self, number: int) -> tuple[str, str]:
        """``(requirement, member of the zip)`` of part 1 … parts."""

        def fill(text: str) -> str:
            padded = text.replace("{nn}", f"{number:02d}").replace("{zz}", f"{number - 1:02d}")
            return padded.replace("{n}", str(number))

        return f"{fill(self.package)}=={self.version}", fill(self.member)


class Variant(_Strict):
    """One quantisation of a model; several files when it is split."""

    quant: Annotated[str, Field(pattern=r"^[A-Za-z0-9_]+$")]
    files: Annotated[tuple[ModelFile, ...], Field(min_length=1)]
    mirror: Mirror | None = None

    @property
    def size(self) -> int | None:
        """Bytes of all files; None unless all are known."""
        sizes = [f.size for f in self.files]
        return None if None in sizes else sum(s for s in sizes if s)

    @model_validator(mode="after")
    def _mirror_can_be_checked(self) -> Variant:
        if self.mirror and (len(self.files) != 1 or self.files[0].sha256 is None or self.files[0].size is None):
            raise ValueError("a mirror needs exactly one file with size and sha256")
        return self


class Licence(_Strict):
    """Name and text of the licence."""

    name: str
    link: Annotated[str, Field(pattern=r"^https://")]


class Shape(_Strict):
    """The network's dimensions, for the memory plan before the file is there. None = not published."""

    context_length: Count | None = None
    layers: Annotated[int, Field(ge=1, le=MOST_LAYERS)] | None = None
    heads: Count | None = None
    kv_heads: Count | None = None
    head_size: Count | None = None
    embedding: Count | None = None
    vocabulary: Count | None = None
    sliding_window: Count | None = None


class RecommendedSampling(_Strict):
    """The publisher's recommendation."""

    temperature: Annotated[float, Field(ge=0)] | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | None = None
    top_k: Annotated[int, Field(ge=0)] | None = None
    min_p: Annotated[float, Field(ge=0, le=1)] | None = None
    repeat_penalty: Annotated[float, Field(gt=0)] | None = None
    presence_penalty: float | None = None

    def sampling(self) -> Sampling:
        """What of it the engine's sampler chain has; the rest of that as it is by default."""
        known = self.model_dump(exclude_none=True)
        return Sampling(**{name: value for name, value in known.items() if name in Sampling.model_fields})


class Thinking(_Strict):
    """The template variable that switches thinking, and what is recommended when it is off."""

    variable: str
    default: bool
    sampling_off: RecommendedSampling | None = None


class CatalogueModel(_Strict):
    """One model with its quantisations; the first variant is the default."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]
    name: str
    family: str
    roles: tuple[Literal["target", "draft"], ...] = ("target",)
    test_only: bool = False
    repo: Annotated[str, Field(pattern=REPO)] | None
    revision: str | None = None
    licence: Licence | None = None
    gated: bool | None = None
    shape: Shape = Shape()
    sampling: RecommendedSampling | None = None
    thinking: Thinking | None = None
    drafts: tuple[str, ...] = ()
    variants: Annotated[tuple[Variant, ...], Field(min_length=1)]

    def recommended(self, thinking: bool | None = None) -> Sampling | None:
        """How the publisher would sample; ``thinking`` None = as the model's template decides."""
        off = self.thinking is not None and (self.thinking.default if thinking is None else thinking) is False
        given = (self.thinking.sampling_off if self.thinking and off else None) or self.sampling
        return given.sampling() if given is not None else None

    def variant(self, quant: str | None) -> Variant | None:
        """The named quantisation, or the default one."""
        if quant is None:
            return self.variants[0]
        return next((v for v in self.variants if v.quant.lower() == quant.lower()), None)

    def variant_id(self, variant: Variant) -> str:
        """``id`` for the default variant, ``id:QUANT`` for the others."""
        return self.id if variant is self.variants[0] else f"{self.id}:{variant.quant}"


class Starter(_Strict):
    """The pair that is proposed first."""

    target: str
    draft: str


class Catalogue(_Strict):
    """A whole catalogue file. ``starter`` may be left out of a person's own."""

    version: Literal[1] = 1
    starter: Starter | None = None
    models: tuple[CatalogueModel, ...] = ()

    @model_validator(mode="after")
    def _ids_differ(self) -> Catalogue:
        ids = [m.id for m in self.models]
        twice = next((i for i in ids if ids.count(i) > 1), None)
        if twice:
            raise ValueError(f"the id {twice!r} stands twice")
        return self

    def find(self, model_id: str) -> tuple[CatalogueModel, Variant] | None:
        """The entry and variant of ``id`` or ``id:QUANT``."""
        base, _, quant = model_id.partition(":")
        entry = next((m for m in self.models if m.id == base), None)
        variant = entry.variant(quant or None) if entry else None
        return (entry, variant) if entry and variant else None


def own_catalogue_path() -> Path:
    """Where a person's own catalogue lies."""
    return data_path() / "models.yaml"


def load_catalogue() -> tuple[Catalogue, EngineError | None]:
    """The shipped catalogue with the person's own laid over it, and what is wrong with the own one, if anything."""
    shipped = shipped_catalogue()
    try:
        path = own_catalogue_path()
        if not path.exists():
            return shipped, None
        return _merged(shipped, read_catalogue(path), path), None
    except EngineError as error:
        return shipped, error
    except OSError as error:
        return shipped, _invalid(str(own_catalogue_path()), "", "", f"it cannot be read: {error}")


def shipped_catalogue() -> Catalogue:
    """The catalogue that comes with Tandem."""
    packaged = resources.files("backend") / "models.yaml"
    if packaged.is_file():
        return _parsed(packaged.read_text(encoding="utf-8"), "models.yaml")
    source = Path(__file__).resolve().parents[2] / "models.yaml"
    return _parsed(source.read_text(encoding="utf-8"), str(source))


def read_catalogue(path: Path) -> Catalogue:
    """A catalogue file.

    Raises:
        EngineError: ``CATALOGUE_INVALID`` naming the file, the entry and the field.
    """
    try:
        if not path.is_file():  # reading a pipe would wait for ever, a device would never end
            raise _invalid(str(path), "", "", "it is not a file")
        if path.stat().st_size > _MAX_FILE:
            raise _invalid(str(path), "", "", "it is larger than 1 MiB")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise _invalid(str(path), "", "", f"it cannot be read: {error}") from error
    return _parsed(text, str(path))


def _parsed(text: str, name: str) -> Catalogue:
    try:
        raw = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise _invalid(name, "", "", f"it is not valid YAML: {' '.join(str(error).split())}") from error
    if not isinstance(raw, dict):
        raise _invalid(name, "", "", "it must hold 'version' and 'models'")
    try:
        return Catalogue.model_validate(raw)
    except ValidationError as error:
        first = error.errors()[0]
        entry, field = _where(raw, first["loc"])
        raise _invalid(name, entry, field, first["msg"]) from error


def _merged(shipped: Catalogue, own: Catalogue, path: Path) -> Catalogue:
    replaced = {m.id for m in own.models}
    models = (*own.models, *(m for m in shipped.models if m.id not in replaced))
    known = {m.id for m in models}
    for model in own.models:
        unknown = next((d for d in model.drafts if d not in known), None)
        if unknown:
            raise _invalid(str(path), model.id, "drafts", f"no entry has the id {unknown!r}")
    return Catalogue(starter=own.starter or shipped.starter, models=models)


def _where(raw: dict[str, Any], loc: tuple[int | str, ...]) -> tuple[str, str]:
    """The entry's id (or number) and the field's dotted name of a pydantic location."""
    if len(loc) < 2 or loc[0] != "models" or not isinstance(loc[1], int):
        return "", ".".join(map(str, loc))
    entry = f"number {loc[1] + 1}"
    models = raw.get("models")
    if isinstance(models, list) and isinstance(models[loc[1]], dict):
        entry = str(models[loc[1]].get("id") or entry)
    return entry, ".".join(map(str, loc[2:]))


def _invalid(name: str, entry: str, field: str, why: str) -> EngineError:
    where = f", entry {entry}" * bool(entry) + f", field {field}" * bool(field)
    return EngineError(
        ErrorCode.CATALOGUE_INVALID,
        f"The model catalogue {name}{where} is not usable ({why}); "
        "correct it or move it away. The built-in catalogue is used until then.",
        {"file": name, "entry": entry, "field": field, "reason": why},
    )
