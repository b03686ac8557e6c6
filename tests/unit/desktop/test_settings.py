"""Settings survive damage and round trips."""

from __future__ import annotations

import json
from pathlib import Path

from desktop.settings import ChatSettings, Settings, SettingsFile


def test_changes_are_read_back(tmp_path: Path) -> None:
    path = tmp_path / "config" / "settings.json"
    SettingsFile(path).change(target="t", theme="dark")
    again = SettingsFile(path)
    assert (again.now.target, again.now.theme) == ("t", "dark")
    assert again.problem == ""


def test_unreadable_settings_are_kept_and_said(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"theme": "neon"}))
    settings = SettingsFile(path)
    assert settings.now == Settings()
    assert "defaults" in settings.problem
    assert json.loads(path.with_suffix(".unreadable.json").read_text()) == {"theme": "neon"}


def test_fields_of_a_newer_version_are_ignored(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"theme": "dark", "panel": True}))
    assert SettingsFile(path).now.theme == "dark"


def test_thinking_is_sent_only_to_templates_that_know_it() -> None:
    chat = ChatSettings(thinking=False)
    assert chat.template_kwargs(["enable_thinking"]) == {"enable_thinking": False}
    assert chat.template_kwargs([]) == {}
    assert ChatSettings().template_kwargs(["enable_thinking"]) == {}
