"""Settings survive damage and round trips."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

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


def test_one_slip_costs_one_field(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    good = {"theme": "dark", "new_chat": {"system_prompt": "Be brief.", "sampling": {"top_k": 7}}, "target": "big"}
    bad = json.loads(json.dumps(good)) | {"load": {"n_ctx": 1, "batch": 64, "colour": 3}, "speculation": 5}
    bad["new_chat"]["sampling"]["temperature"] = "warm"
    path.write_text(json.dumps(bad))
    settings = SettingsFile(path)
    now = settings.now
    assert (now.theme, now.target, now.new_chat.system_prompt) == ("dark", "big", "Be brief.")
    assert (now.new_chat.sampling.top_k, now.new_chat.sampling.temperature) == (7, None)
    assert (now.load.n_ctx, now.load.batch) == (None, 64)
    for name in ("load.n_ctx", "load.colour", "speculation", "new_chat.sampling.temperature"):
        assert f"“{name}”" in settings.problem
    assert json.loads((tmp_path / "settings.unreadable.json").read_text()) == bad
    assert SettingsFile(path).problem == ""


@pytest.mark.parametrize("slip", ['{"theme": "dark",}', "", "[]", '{"speculation": {"length": 99}}'])
def test_a_slip_is_never_written_over(tmp_path: Path, slip: str) -> None:
    path = tmp_path / "settings.json"
    for number in ("", "-2"):
        path.write_text(slip)
        settings = SettingsFile(path)
        settings.change(theme="light")
        assert settings.problem
        assert (tmp_path / f"settings.unreadable{number}.json").read_text() == slip
        assert SettingsFile(path).now.theme == "light"


def test_a_file_that_cannot_be_put_aside_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "settings.json"
    path.write_text("{slip")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "replace", refuse)
    settings = SettingsFile(path)
    settings.change(theme="dark")
    assert settings.now.theme == "dark"
    assert "not saved" in settings.problem
    assert path.read_text() == "{slip"


def test_a_byte_order_mark_is_no_slip(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"theme": "dark"}', encoding="utf-8-sig")
    settings = SettingsFile(path)
    assert (settings.now.theme, settings.problem) == ("dark", "")


def test_fields_of_a_newer_version_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    newer = {"theme": "dark", "gestures": {"swipe": 3}, "presets": {"a": {"name": "A", "shade": "warm"}}}
    path.write_text(json.dumps(newer))
    settings = SettingsFile(path)
    assert (settings.now.theme, settings.problem) == ("dark", "")
    settings.change(theme="light")
    written = json.loads(path.read_text())
    assert written["gestures"] == {"swipe": 3}
    assert written["presets"]["a"]["shade"] == "warm"


def test_thinking_is_a_switch_only_when_it_was_chosen() -> None:
    assert ChatSettings(thinking=False).template_kwargs() == {"enable_thinking": False}
    assert ChatSettings().template_kwargs() == {}
