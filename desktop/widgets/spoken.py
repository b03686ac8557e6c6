"""A reply as it is read out: its answer in plain words, without the signs that make it Markdown."""

from __future__ import annotations

from PySide6.QtGui import QTextDocument

from desktop.widgets.inline_maths import hide
from desktop.widgets.markdown_split import Block, split_blocks
from desktop.widgets.prose import lay_out

_IMAGE = "\ufffc"
"""What stands in a document for what is no text."""


def spoken(text: str, most: int) -> str:
    """The first ``most`` characters of the answer; of the thinking where there is nothing else."""
    blocks = split_blocks(text)
    answer = [block for block in blocks if block.kind != "thinking"] or blocks
    said = ""
    for block in answer:
        said += f"{_words(block)}\n"
        if len(said) >= most:
            break
    return said.strip()[:most]


def _words(block: Block) -> str:
    if block.kind in ("code", "maths"):
        return block.text
    hidden, document = hide(block.text), QTextDocument()
    lay_out(document, hidden.markdown)
    words = document.toPlainText().replace(_IMAGE, "")
    for sign, formula in hidden.formulas.items():
        words = words.replace(sign, formula.source)
    return words
