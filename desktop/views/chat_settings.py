"""The chat-settings dialog: what this chat asks for, how drafts are made, and how models are loaded."""

from __future__ import annotations

from PySide6.QtCore import QRegularExpression, Qt
from PySide6.QtGui import QRegularExpressionValidator
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QDoubleSpinBox,
    QFormLayout,
    QFrame,
    QGroupBox,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from backend.protocol import LoadOptions, Sampling, Speculation, State
from desktop.settings import ChatSettings
from desktop.widgets.picker import ChoiceBox

_THINKING = (("As the model prefers", None), ("On", True), ("Off", False))
_RULES = (
    ("Coupled: the same seed gives the same text, but for near-ties", "coupled"),
    ("Rejection sampling", "rejection"),
)
_STRICT = (("Where they cost little", None), ("Always", True), ("Never", False))
_STRICT_NOTE = (
    "Exact texts equal plain decoding's to the bit. Whether they cost little is found out when a model is loaded for "
    "the first time, which then takes as long as a reply of a few hundred tokens. Always: also where drafts get so "
    "short that replies are slower. Changing this loads the models again."
)
_COPIES = (("No", False), ("Yes, where it is measured to pay", True))
_LARGEST_SEED = 2**63 - 1


class ChatSettingsDialog(QDialog):
    """Edits copies; read ``chat``, ``speculation`` and ``load`` after it was accepted."""

    def __init__(
        self,
        chat: ChatSettings,
        speculation: Speculation,
        load: LoadOptions,
        state: State,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle("Chat settings")
        self._chat, self._speculation, self._load = chat, speculation, load
        inside = QWidget()
        inside.setObjectName("column")
        self._body = QVBoxLayout(inside)
        self._add_chat(chat, state)
        self._add_speculation(speculation, load, state)
        self._add_load(load, state)
        self._body.addStretch(1)
        scroll = QScrollArea()
        scroll.setObjectName("page")
        scroll.setFrameShape(QFrame.Shape.NoFrame)
        scroll.setWidgetResizable(True)
        scroll.setWidget(inside)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.addWidget(scroll, 1)
        layout.addWidget(buttons)
        self.resize(560, 640)

    @property
    def chat(self) -> ChatSettings:
        """This chat's settings as edited."""
        seed = self.seed.text().strip()
        sampling = Sampling(
            temperature=self.temperature.value(),
            top_k=self.top_k.value(),
            top_p=self.top_p.value(),
            min_p=self.min_p.value(),
            repeat_penalty=self.repeat_penalty.value(),
            repeat_last_n=self._chat.sampling.repeat_last_n,
            seed=min(int(seed), _LARGEST_SEED) if seed else None,
        )
        return ChatSettings(
            system_prompt=self.system.toPlainText(),
            sampling=sampling,
            max_tokens=self.max_tokens.value() or None,
            thinking=self._chat.thinking if self.thinking is None else self.thinking.currentData(),
        )

    @property
    def speculation(self) -> Speculation:
        """Draft length and rule as edited."""
        length = self.length.value()
        return self._speculation.model_copy(
            update={"length": "auto" if length < 0 else length, "rule": self.rule.currentData()}
        )

    @property
    def load(self) -> LoadOptions:
        """Strictness, context, layers and the draft's copy as edited."""
        return self._load.model_copy(
            update={
                "n_ctx": max(64, self.n_ctx.value()) if self.n_ctx.value() else None,
                "gpu_layers": _or_none(self.gpu_layers),
                "draft_gpu_layers": _or_none(self.draft_gpu_layers),
                "strict": self.strict.currentData(),
                "cheaper_draft": self.cheaper_draft.currentData(),
            }
        )

    def _add_chat(self, chat: ChatSettings, state: State) -> None:
        form = self._group("This chat")
        self.system = QPlainTextEdit(chat.system_prompt)
        self.system.setObjectName("field")
        self.system.setTabChangesFocus(True)
        self.system.setPlaceholderText("What the model should always keep in mind")
        self.system.setFixedHeight(self.system.fontMetrics().lineSpacing() * 5)
        _row(form, "System prompt", self.system)
        if state.target is not None and state.target.template_note:
            form.addRow(_quiet(state.target.template_note))
        sampling = chat.sampling
        self.temperature = _number(sampling.temperature, 0, 100, 0.1, 4, "0 always takes the likeliest token.")
        self.top_k = _count(sampling.top_k, 0, 1_000_000, "Keeps the k likeliest tokens; 0 keeps all.")
        self.top_p = _number(
            sampling.top_p, 0.0001, 1, 0.05, 4, "Keeps the likeliest tokens that sum to this; 1 = all."
        )
        self.min_p = _number(sampling.min_p, 0, 1, 0.01, 4, "Drops tokens below this share of the likeliest; 0 = none.")
        self.repeat_penalty = _number(sampling.repeat_penalty, 0.01, 10, 0.05, 2, "1 = no penalty.")
        self.seed = QLineEdit("" if sampling.seed is None else str(sampling.seed))
        self.seed.setMinimumHeight(self.temperature.minimumHeight())
        self.seed.setPlaceholderText("A fresh one for every reply")
        self.seed.setValidator(QRegularExpressionValidator(QRegularExpression(r"\d{0,19}")))
        self.max_tokens = _count(chat.max_tokens or 0, 0, 10_000_000, "0 = until the reply ends.", "No limit")
        for label, field in (
            ("Temperature", self.temperature),
            ("Top-k", self.top_k),
            ("Top-p", self.top_p),
            ("Min-p", self.min_p),
            ("Repetition penalty", self.repeat_penalty),
            ("Seed", self.seed),
            ("Longest reply (tokens)", self.max_tokens),
        ):
            _row(form, label, field)
        self.thinking: QComboBox | None = None
        if state.target is not None and "enable_thinking" in state.target.template_variables:
            self.thinking = _choices(_THINKING, chat.thinking)
            _row(form, "Thinking", self.thinking)

    def _add_speculation(self, speculation: Speculation, load: LoadOptions, state: State) -> None:
        form = self._group("Speculation, all chats")
        length = -1 if speculation.length == "auto" else speculation.length
        self.length = _count(length, -1, 48, "How many tokens are drafted before each check.", "Automatic")
        self.rule = _choices(_RULES, speculation.rule)
        _row(form, "Draft length", self.length)
        _row(form, "Acceptance rule", self.rule)
        self._note("Both take effect at once, also in a reply that is being written.")
        if state.target and (limit := state.target.truncate_note):
            self._note(f"{limit[0].upper()}{limit[1:]}.")
        form = self._group()
        self.strict = _choices(_STRICT, load.strict)
        _row(form, "Exact texts", self.strict)
        self._note(_STRICT_NOTE)

    def _add_load(self, load: LoadOptions, state: State) -> None:
        form = self._group("Loading, all chats")
        trained = state.target.n_ctx_train if state.target else 0
        tip = f"The model was trained on {trained:,}." if trained else ""
        self.n_ctx = _count(load.n_ctx or 0, 0, 4_194_304, tip, "Automatic")
        self.n_ctx.setSingleStep(1024)
        self.gpu_layers = _count(_layers(load.gpu_layers), -1, 10_000, "Layers of the target on the GPU.", "Automatic")
        self.draft_gpu_layers = _count(
            _layers(load.draft_gpu_layers), -1, 10_000, "Layers of the draft on the GPU.", "Automatic"
        )
        _row(form, "Context (tokens)", self.n_ctx)
        _row(form, "GPU layers, target", self.gpu_layers)
        _row(form, "GPU layers, draft", self.draft_gpu_layers)
        self.cheaper_draft = _choices(_COPIES, load.cheaper_draft)
        self.cheaper_draft.setToolTip(
            "A copy of the draft in a smaller number format is made once, while nothing is written, and kept on the "
            "disk. Its steps can be quicker and its guesses worse: both are measured first. Texts stay the target's."
        )
        _row(form, "Cheaper draft copy", self.cheaper_draft)
        if state.draft_copy:
            form.addRow(_quiet(f"{state.draft_copy[0].upper()}{state.draft_copy[1:].rstrip('.')}."))
        self._note("Changing these loads the models again.")

    def _group(self, title: str = "") -> QFormLayout:
        """Rows under a title, or further ones of the group above."""
        box = QGroupBox(title) if title else QWidget()
        form = QFormLayout(box)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft)
        self._body.addWidget(box)
        return form

    def _note(self, text: str) -> None:
        self._body.addWidget(_quiet(text))


def _quiet(text: str) -> QLabel:
    label = QLabel(text)
    label.setObjectName("subtle")
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setWordWrap(True)
    return label


def _row(form: QFormLayout, label: str, field: QWidget) -> None:
    field.setAccessibleName(label)
    form.addRow(label, field)
    form.labelForField(field).setMinimumWidth(field.fontMetrics().horizontalAdvance("Longest reply (tokens)  "))


def _number(value: float, low: float, high: float, step: float, digits: int, tip: str) -> QDoubleSpinBox:
    box = _Number()
    _plain(box)
    box.setDecimals(digits)
    box.setRange(low, high)
    box.setSingleStep(step)
    box.setValue(value)
    box.setToolTip(tip)
    return box


def _count(value: int, low: int, high: int, tip: str, special: str = "") -> QSpinBox:
    box = QSpinBox()
    _plain(box)
    box.setRange(low, high)
    box.setValue(value)
    box.setToolTip(tip)
    box.setSpecialValueText(special)
    box.setGroupSeparatorShown(True)
    return box


class _Number(QDoubleSpinBox):
    """Shows 0.7, not 0.7000."""

    def textFromValue(self, val: float) -> str:
        return self.locale().toString(val, "g", 6)


def _plain(box: QAbstractSpinBox) -> None:
    """Typed, or stepped with the arrow keys; the wheel scrolls the page unless the field has the focus."""
    box.setMinimumHeight(round(box.fontMetrics().height() * 1.6))
    box.setButtonSymbols(QAbstractSpinBox.ButtonSymbols.NoButtons)
    box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)


def _choices(items: tuple[tuple[str, object], ...], value: object) -> QComboBox:
    box = ChoiceBox()
    for text, data in items:
        box.addItem(text, data)
    box.setCurrentIndex(next(n for n, (_, data) in enumerate(items) if data == value))
    return box


def _layers(value: int | None) -> int:
    return -1 if value is None else value


def _or_none(box: QSpinBox) -> int | None:
    return None if box.value() < 0 else box.value()
