"""The tour's scene in the models window, with a download from a hub on this machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from backend.library.library import Library
from backend.library.paths import data_path
from tests.unit.library.server import Hub, serving

if TYPE_CHECKING:
    from desktop.views.models_window import ModelsWindow
    from tests.long.tour import Tour

AGAIN = "smollm2-again"
SMALL = """
models:
- {id: smollm2-again, name: SmolLM2 135M Instruct, family: smollm2, repo: this-machine/smollm2,
   licence: {name: Apache-2.0, link: "https://www.apache.org/licenses/LICENSE-2.0"},
   variants: [{quant: Q4_1, files: [{name: smollm2-again.gguf, size: SIZE}]}]}
"""


def manage(tour: Tour) -> None:
    """What is here, what can be had, and a download near its half, at six megabytes a second."""
    managing, shelf = tour.window.models.managing, tour.desktop.shelf
    small = next(path for m in Library().models(test_only=True) if m.id == "smollm2" for path in m.files)
    hub = Hub(small.read_bytes(), rate=6_000_000)
    (data_path() / "models.yaml").write_text(SMALL.replace("SIZE", str(len(hub.content))))
    with serving(hub):
        os.environ["HF_ENDPOINT"] = hub.url
        managing.open()
        window = managing.window
        assert window is not None
        tour.until(lambda: shelf.named(AGAIN) is not None and bool(managing.outlooks.by_id))
        for name, model in (("models-here", "qwen2.5-coder-1.5b"), ("models-offered", "llama-3.1-8b")):
            window.select(model)
            tour.until(lambda: bool(window.detail.drafts.rows))
            picture(tour, window, name)
        tour.desktop.theme.choose("dark")
        picture(tour, window, "models-dark")
        tour.desktop.theme.choose("light")
        shelf.fetching.start([(AGAIN, "SmolLM2 135M Instruct")])
        window.select(AGAIN)
        tour.until(lambda: any(fetch.done > 40_000_000 for fetch in shelf.fetching.items.values()))
        picture(tour, window, "download")
        shelf.fetching.cancel(AGAIN)
        tour.until(lambda: not shelf.fetching.items)
        del os.environ["HF_ENDPOINT"]
    window.close()


def picture(tour: Tour, window: ModelsWindow, name: str) -> None:
    """Save what the models window shows."""
    tour.settle()
    window.grab().save(str(tour.folder / f"{name}.png"))
