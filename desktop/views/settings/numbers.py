"""The numbers that can be chosen, each with one sentence on what it changes."""

from __future__ import annotations

from backend.protocol import LoadOptions, Sampling, Speculation
from desktop.language import marked
from desktop.presets import OwnSampling
from desktop.settings import ChatSettings
from desktop.widgets.field import Number

SAMPLING = (
    Number(
        Sampling,
        "temperature",
        marked("Temperature"),
        marked("Higher is bolder; 0 always takes the likeliest token."),
        step=0.1,
        whole=False,
    ),
    Number(Sampling, "top_k", marked("Top-k"), marked("Only the k likeliest tokens are drawn from; 0 = all."), step=5),
    Number(
        Sampling,
        "top_p",
        marked("Top-p"),
        marked("Only the likeliest tokens that together have this share are drawn from; 1 = all."),
        step=0.05,
        whole=False,
    ),
    Number(
        Sampling,
        "min_p",
        marked("Min-p"),
        marked("Tokens below this share of the likeliest one's are left out; 0 = none."),
        step=0.01,
        whole=False,
    ),
    Number(
        Sampling,
        "repeat_penalty",
        marked("Repetition penalty"),
        marked("Above 1, tokens that were said lately become less likely; 1 = no penalty."),
        step=0.05,
        whole=False,
    ),
    Number(
        Sampling,
        "repeat_last_n",
        marked("Penalty reaches back"),
        marked("Tokens that count as said lately; 0 = none."),
        step=16,
    ),
)
"""Of a preset, in the order in which they work."""
SEED = Number(
    OwnSampling, "seed", marked("Seed"), marked("The same seed, settings and model give the same text again.")
)
LONGEST = Number(
    ChatSettings, "max_tokens", marked("Longest reply"), marked("A reply ends after so many tokens."), step=64
)

LENGTH = Number(
    Speculation,
    "length",
    marked("Draft length"),
    marked("Tokens that are drafted before each check; 0 = none."),
)

CONTEXT = Number(
    LoadOptions,
    "n_ctx",
    marked("Context"),
    marked("Tokens that the model sees at once, the reply included; more takes memory."),
    1024,
)
LAYERS = Number(
    LoadOptions,
    "gpu_layers",
    marked("GPU layers, target"),
    marked("Layers of the target on the graphics card; more is faster."),
)
DRAFT_LAYERS = Number(
    LoadOptions,
    "draft_gpu_layers",
    marked("GPU layers, draft"),
    marked("The same of the draft; small, it should lie there whole."),
)
THREADS = Number(
    LoadOptions,
    "threads",
    marked("Threads"),
    marked("Processor threads that compute; more than there are cores is slower."),
)
BATCH = Number(
    LoadOptions,
    "batch",
    marked("Prompt slice"),
    marked("Prompt tokens that are read in one pass; fewer take less memory."),
    step=64,
)
SNAPSHOTS = Number(
    LoadOptions,
    "snapshots",
    marked("Snapshots"),
    marked("Tokens by which a hybrid model's state can be rolled back after wrong drafts; each takes memory."),
)
