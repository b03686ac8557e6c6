"""The word after a code fence, by a file's name; Pygments and models know all of them."""

from __future__ import annotations

from pathlib import PurePath

_ENDINGS = {
    "bash": "sh bash zsh",
    "bat": "bat cmd",
    "c": "c h",
    "cmake": "cmake",
    "cpp": "cpp cc cxx hpp hh hxx",
    "csharp": "cs",
    "css": "css",
    "csv": "csv",
    "dart": "dart",
    "diff": "diff patch",
    "elixir": "ex exs",
    "erlang": "erl",
    "fortran": "f f90 f95",
    "fsharp": "fs fsx",
    "go": "go",
    "graphql": "graphql gql",
    "groovy": "groovy gradle",
    "haskell": "hs",
    "html": "html htm xhtml",
    "ini": "ini cfg conf",
    "java": "java",
    "javascript": "js mjs cjs jsx",
    "json": "json jsonl ipynb",
    "julia": "jl",
    "kotlin": "kt kts",
    "latex": "tex sty",
    "lua": "lua",
    "make": "mk",
    "markdown": "md markdown",
    "matlab": "m",
    "nim": "nim",
    "objective-c": "mm",
    "ocaml": "ml mli",
    "perl": "pl pm",
    "php": "php",
    "powershell": "ps1 psm1",
    "properties": "properties",
    "protobuf": "proto",
    "python": "py pyi pyw",
    "qml": "qml",
    "r": "r",
    "rst": "rst",
    "ruby": "rb",
    "rust": "rs",
    "scala": "scala",
    "scss": "scss",
    "sql": "sql",
    "swift": "swift",
    "toml": "toml",
    "typescript": "ts mts cts tsx",
    "vbnet": "vb",
    "vue": "vue",
    "xml": "xml svg xsd xsl ui",
    "yaml": "yaml yml",
    "zig": "zig",
}
_BY_ENDING = {f".{ending}": word for word, endings in _ENDINGS.items() for ending in endings.split()}
_BY_NAME = {"dockerfile": "docker", "makefile": "make", "gnumakefile": "make", "cmakelists.txt": "cmake"}


def language_of(name: str) -> str:
    """The word, or "" for plain text."""
    return _BY_NAME.get(name.lower()) or _BY_ENDING.get(PurePath(name).suffix.lower(), "")
