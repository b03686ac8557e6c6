"""The virtual environment ``.venv`` and the stamp that makes every set-up after the first one quick."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from installers.progress import SetupError, run_logged

GROUPS_SINCE_PIP = (25, 1)  # pip install --group
ENGINE_PACKAGE = "llama-cpp-python"


class Environment:
    """A checkout's virtual environment.

    Args:
        root: the folder with pyproject.toml.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.folder = root / ".venv"
        self.scripts = self.folder / ("Scripts" if os.name == "nt" else "bin")
        self.python = self.scripts / ("python.exe" if os.name == "nt" else "python")
        self.log = self.folder / "tandem-setup.log"
        self._stamp = self.folder / "tandem-stamp.json"

    def tool(self, name: str) -> Path:
        """A program that a package brought."""
        return self.scripts / (f"{name}.exe" if os.name == "nt" else name)

    # the stamp

    def fingerprint(self, build: str) -> str:
        """What the environment was made from: Python, engine build, wheel index, pyproject's dependency lists."""
        project = self._pyproject()
        parts = {
            "python": sys.version_info[:3],
            "build": build,
            "index": os.environ.get("TANDEM_WHEEL_INDEX", ""),
            "dependencies": project["project"]["dependencies"],
            "scripts": [project["project"].get("scripts"), project["project"].get("gui-scripts")],
            "groups": project.get("dependency-groups"),
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def is_current(self, build: str) -> bool:
        """True when nothing has to be installed for this build of the engine (``engine.build_key``)."""
        return self.python.exists() and self.read_stamp().get("fingerprint") == self.fingerprint(build)

    def read_stamp(self) -> dict[str, Any]:
        """What the last finished set-up noted; empty when there was none."""
        try:
            found = json.loads(self._stamp.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def write_stamp(self, build: str, engine: str) -> None:
        """Note that everything is in place; written last, so that a set-up that was stopped starts again."""
        text = json.dumps({"fingerprint": self.fingerprint(build), "engine": engine}, indent=1)
        new = self._stamp.with_suffix(".new")
        new.write_text(text, encoding="utf-8")
        new.replace(self._stamp)

    # what is in it

    def engine_requirement(self) -> str:
        """The engine's pinned version, as pyproject.toml has it: ``llama-cpp-python==X``."""
        found = [d for d in self._pyproject()["project"]["dependencies"] if d.startswith(f"{ENGINE_PACKAGE}==")]
        if len(found) != 1:
            raise SetupError(f"pyproject.toml must pin {ENGINE_PACKAGE} with '==' exactly once.")
        return str(found[0])

    def site_packages(self) -> Path:
        """Where the installed packages lie."""
        if os.name == "nt":
            return self.folder / "Lib" / "site-packages"
        version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        return self.folder / "lib" / version / "site-packages"

    def create(self) -> None:
        """Make the environment unless a working one is there, with a pip that knows dependency groups."""
        if not self._works():
            self.folder.mkdir(exist_ok=True)
            command = [sys.executable, "-m", "venv", "--clear", str(self.folder)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                raise SetupError(f"Python could not make {self.folder}:\n{done.stdout}{done.stderr}")
        if self._pip_version() < GROUPS_SINCE_PIP:
            wanted = "pip>=" + ".".join(map(str, GROUPS_SINCE_PIP))
            self.pip(["install", "--upgrade", wanted], "Newer pip")

    def pip(self, arguments: list[str], title: str, **options: Any) -> None:
        """Run pip in the environment with one line of progress."""
        run_logged([self.python, "-m", "pip", "--no-input", *arguments], title, self.log, **options)

    def install_project(self) -> None:
        """Install Tandem (editable), its dependencies and the tools for development."""
        self.pip(["install", "--editable", ".", "--group", "dev"], "Packages", cwd=self.root)

    def _pyproject(self) -> dict[str, Any]:
        return tomllib.loads((self.root / "pyproject.toml").read_text(encoding="utf-8"))

    def _works(self) -> bool:
        """An environment is usable while it runs the same Python as this one."""
        if not self.python.exists():
            return False
        command = [str(self.python), "-c", "import pip, sys; print(sys.version_info[:2])"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode == 0 and done.stdout.strip() == str(tuple(sys.version_info[:2]))

    def _pip_version(self) -> tuple[int, ...]:
        command = [str(self.python), "-c", "import pip; print(pip.__version__)"]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        return tuple(int(part) for part in text.strip().split(".")[:2])
