"""How models are put into memory: a copy to be edited, with what single models have of their own."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from backend.errors import EngineError
from backend.plan.attention import check_caches
from backend.plan.request import DEFAULT_CONTEXT
from backend.protocol import LoadOptions, State
from desktop.language import marked, tr
from desktop.models.limits import shown_number
from desktop.settings import ModelChoices, Settings
from desktop.views.settings.marked_choice import marked_choice
from desktop.views.settings.numbers import BATCH, CONTEXT, DRAFT_LAYERS, LAYERS, SNAPSHOTS, THREADS
from desktop.widgets.field import NumberField
from desktop.widgets.form import Form, quiet
from desktop.widgets.picker import ChoiceBox, choice

_EVERY = ""
_SCOPED = (CONTEXT, LAYERS, DRAFT_LAYERS)
_KV = (
    (marked("f16, usual"), "f16"),
    (marked("bf16"), "bf16"),
    (marked("f32, twice as large"), "f32"),
    (marked("q8_0, about half as large"), "q8_0"),
    (marked("q4_0, about a quarter"), "q4_0"),
)
_FLASH = ((marked("Automatic"), "auto"), (marked("On"), "on"), (marked("Off"), "off"))
_STRICT = ((marked("Where they cost little"), None), (marked("Always"), True), (marked("Never"), False))
_WEIGHTS = (
    (marked("As the system decides"), (True, False)),
    (marked("Kept in memory"), (True, True)),
    (marked("Read into memory"), (False, False)),
    (marked("Read into memory and kept there"), (False, True)),
)
_COPIES = ((marked("No"), False), (marked("Yes, where it is measured to pay"), True))
_SAYS = {
    "kv_type": marked(
        "In which format what was read is remembered; smaller takes less memory and may change answers. Default: f16."
    ),
    "draft_kv_type": marked("The same of the draft: below f16 fewer of its tokens may be accepted. Default: f16."),
    "flash_attention": marked(
        "Another way of computing attention. Default: automatic, on a graphics card, with sliding windows and with "
        "quantised caches."
    ),
    "weights": marked(
        "Kept: never paged out, which the system must allow for that much. Read: not mapped from the file. Default: "
        "as the system decides."
    ),
    "strict": marked(
        "Texts equal plain decoding's to the bit. Whether that costs little is found out when a model is loaded for "
        "the first time, which then takes as long as a reply of a few hundred tokens. Always: also where drafts get so "
        "short that replies are slower. Default: where they cost little."
    ),
    "cheaper_draft": marked(
        "A copy of the draft in a smaller number format is made once, while nothing is written, and kept on the disk. "
        "Its steps can be quicker and its guesses worse: both are measured first. Default: no."
    ),
}


class Loading(QObject):
    """Rows of the engine's page; ``changed`` whenever something else is chosen or cannot be used."""

    changed = Signal()

    def __init__(self, page: Form, now: Settings, state: State, models: list[tuple[str, str]]) -> None:
        super().__init__(page)
        self._state = state
        self._load, self._own = now.load, _own(now)
        self.scope = choice([(tr("Every model"), _EVERY), *((name, number) for number, name in models)], _EVERY)
        self.scope.activated.connect(lambda _: self._show_scoped())
        self.numbers = {n.field: NumberField(n) for n in (*_SCOPED, THREADS, BATCH, SNAPSHOTS)}
        self.kv_type = marked_choice(_KV, now.load.kv_type)
        self.draft_kv_type = marked_choice(_KV, now.load.draft_kv_type)
        self.flash_attention = marked_choice(_FLASH, now.load.flash_attention)
        self.weights = marked_choice(_WEIGHTS, None)
        self.strict = marked_choice(_STRICT, now.load.strict)
        self.cheaper_draft = marked_choice(_COPIES, now.load.cheaper_draft)
        self.clash = quiet("")
        self.clash.setObjectName("bad")
        self._add_to(page)
        self.show_settings(now)
        for field in self.numbers.values():
            field.changed.connect(self._read)
        for box in self._boxes.values():
            box.activated.connect(lambda _: self._read())
        self.weights.activated.connect(lambda _: self._read())

    @property
    def problem(self) -> str:
        """Why what is chosen cannot be applied; empty = it can."""
        for field in self.numbers.values():
            if field.problem:
                return tr("{setting}: {problem}", setting=tr(field.number.label), problem=field.problem)
        return _clash(self._load)

    def differs(self, now: Settings) -> bool:
        """Whether something else is chosen than holds."""
        return (self._load, self._own) != (now.load, _own(now))

    def chosen(self, now: Settings) -> tuple[LoadOptions, dict[str, ModelChoices]]:
        """What is chosen for all, and for single models; what these have besides stays as it is now."""
        for model in {*now.models, *self._own}:
            now = now.model_copy(update={"models": now.choosing(model, **self._own.get(model, _nothing()))})
        return self._load, now.models

    def show_settings(self, now: Settings) -> None:
        """What holds."""
        self._load, self._own = now.load, _own(now)
        for name, box in self._boxes.items():
            box.setCurrentIndex(box.findData(getattr(now.load, name)))
        self.weights.setCurrentIndex(
            next(n for n, (_, kept) in enumerate(_WEIGHTS) if kept == (now.load.use_mmap, now.load.use_mlock))
        )
        cores = self._state.threads if now.load.threads is None else 0
        each = (
            tr("Default: one for each core, {cores} here.", cores=cores) if cores else tr("Default: one for each core.")
        )
        self.numbers["threads"].set_value(now.load.threads, None, empty=tr("Automatic"), tail=each)
        self.numbers["batch"].set_value(now.load.batch, LoadOptions().batch)
        affords = tr("Default: as many as memory affords.")
        self.numbers["snapshots"].set_value(now.load.snapshots, None, empty=tr("Automatic"), tail=affords)
        self._show_scoped()

    def _add_to(self, page: Form) -> None:
        page.heading(tr("Loading"))
        page.row(tr("Context and layers of"), self.scope)
        for number in _SCOPED:
            page.row(tr(number.label), self.numbers[number.field])
        page.heading(tr("Loading, of every model"))
        page.row(tr("Exact texts"), self.strict, tr(_SAYS["strict"]))
        for number in (THREADS, BATCH):
            page.row(tr(number.label), self.numbers[number.field])
        page.row(tr("KV cache, target"), self.kv_type, tr(_SAYS["kv_type"]))
        page.row(tr("KV cache, draft"), self.draft_kv_type, tr(_SAYS["draft_kv_type"]))
        page.row(tr("Flash attention"), self.flash_attention, tr(_SAYS["flash_attention"]))
        page.wide(self.clash)
        page.row(tr("Weights"), self.weights, tr(_SAYS["weights"]))
        page.row(tr("Cheaper draft copy"), self.cheaper_draft, tr(_SAYS["cheaper_draft"]))
        if copy := self._state.draft_copy:
            page.note(f"{copy[0].upper()}{copy[1:].rstrip('.')}.")
        page.row(tr(SNAPSHOTS.label), self.numbers["snapshots"])

    @property
    def _boxes(self) -> dict[str, ChoiceBox]:
        return {
            "strict": self.strict,
            "kv_type": self.kv_type,
            "draft_kv_type": self.draft_kv_type,
            "flash_attention": self.flash_attention,
            "cheaper_draft": self.cheaper_draft,
        }

    def _show_scoped(self) -> None:
        """The numbers of the model that is chosen, or of every one; a number that could not be used is given up."""
        model = str(self.scope.currentData())
        own = self._own.get(model, _nothing())
        for number in _SCOPED:
            every = getattr(self._load, number.field)
            value = own[number.field] if model else every
            automatic = tr("Automatic")
            like = shown_number(every) if every is not None else automatic
            empty = tr("As every: {value}", value=like) if model else automatic
            self.numbers[number.field].set_value(value, every, empty=empty, tail=self._default(number.field))
        self._tell()

    def _default(self, field: str) -> str:
        target, draft = self._state.target, self._state.draft
        if field == "n_ctx":
            if target is None:
                return tr("Default: {context:,}, or less where a model knows less.", context=DEFAULT_CONTEXT)
            return tr(
                "Default: {context:,}, or less where a model knows less. {model} was trained on {trained:,}.",
                context=DEFAULT_CONTEXT,
                model=target.name,
                trained=target.n_ctx_train,
            )
        if self._state.devices and not any(d.kind in ("gpu", "igpu") for d in self._state.devices):
            return tr("Here the engine uses no graphics card, so it changes nothing.")
        model = target if field == "gpu_layers" else draft
        if model is None:
            return tr("Default: as many as fit.")
        return tr("Default: as many as fit. {model} has {layers}.", model=model.name, layers=model.n_layer)

    def _read(self) -> None:
        model = str(self.scope.currentData())
        scoped = {number.field: self.numbers[number.field].value for number in _SCOPED}
        mapped, kept = self.weights.currentData()
        chosen = {name: box.currentData() for name, box in self._boxes.items()}
        chosen |= {"use_mmap": mapped, "use_mlock": kept}
        batch = self.numbers["batch"].value
        chosen |= {
            "threads": self.numbers["threads"].value,
            "batch": LoadOptions().batch if batch is None else batch,
            "snapshots": self.numbers["snapshots"].value,
        }
        if model:
            self._own = {other: own for other, own in self._own.items() if other != model}
            if scoped != _nothing():
                self._own[model] = scoped
        else:
            chosen |= scoped
        self._load = self._load.model_copy(update=chosen)
        self._tell()

    def _tell(self) -> None:
        clash = _clash(self._load)
        self.clash.setText(tr("Not applied: {problem}", problem=clash) if clash else "")
        self.clash.setVisible(bool(clash))
        self.changed.emit()


def _clash(load: LoadOptions) -> str:
    """Why these cannot go together; empty = they can."""
    try:
        check_caches(load)
    except EngineError as error:
        return error.message
    return ""


def _nothing() -> dict[str, float | None]:
    return dict.fromkeys(number.field for number in _SCOPED)


def _own(now: Settings) -> dict[str, dict[str, float | None]]:
    """Of each model, the numbers that it has of its own."""
    found = {model: {n.field: getattr(own, n.field) for n in _SCOPED} for model, own in now.models.items()}
    return {model: own for model, own in found.items() if own != _nothing()}
