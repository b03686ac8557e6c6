"""The words that worker and front ends share: request bodies, settings, and the records a reply carries.

Wire format: the OpenAI chat-completions API plus ``x_`` fields and ``/x/`` routes (docs/protocol.md). Settings and
requests are pydantic models, because they come from outside and their errors are shown to people; what the engine
emits many times a second are plain frozen dataclasses. Counters take llama-server's names where it has one. All of them
are imported from here.
"""

from backend.protocol.loading import (
    ContextSize,
    DraftRequest,
    Layers,
    LoadOptions,
    LoadProgress,
    LoadRequest,
)
from backend.protocol.reply import (
    Comparison,
    Delta,
    Difference,
    Finished,
    FinishReason,
    Origin,
    Outcome,
    PromptProgress,
    ReplyEvent,
    RoundRecord,
    Side,
    Timings,
    TokenRecord,
)
from backend.protocol.request import (
    Message,
    MinP,
    RepeatLastN,
    RepeatPenalty,
    ReplyRequest,
    Sampling,
    Seed,
    Speculation,
    Temperature,
    TopK,
    TopP,
)
from backend.protocol.state import (
    ONLY_SINGLE,
    CostTable,
    DeviceInfo,
    Judged,
    ModelInfo,
    Phase,
    State,
)

PROTOCOL = 1
SECRET_VARIABLE = "TANDEM_SECRET"
MODELS_VARIABLE = "TANDEM_MODELS"
"""JSON object {model id: absolute path}: files named on a command line, handed to the worker by its parent."""

__all__ = [
    "MODELS_VARIABLE",
    "ONLY_SINGLE",
    "PROTOCOL",
    "SECRET_VARIABLE",
    "Comparison",
    "ContextSize",
    "CostTable",
    "Delta",
    "DeviceInfo",
    "Difference",
    "DraftRequest",
    "FinishReason",
    "Finished",
    "Judged",
    "Layers",
    "LoadOptions",
    "LoadProgress",
    "LoadRequest",
    "Message",
    "MinP",
    "ModelInfo",
    "Origin",
    "Outcome",
    "Phase",
    "PromptProgress",
    "RepeatLastN",
    "RepeatPenalty",
    "ReplyEvent",
    "ReplyRequest",
    "RoundRecord",
    "Sampling",
    "Seed",
    "Side",
    "Speculation",
    "State",
    "Temperature",
    "Timings",
    "TokenRecord",
    "TopK",
    "TopP",
]
