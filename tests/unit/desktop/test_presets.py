"""Presets and prompts: kept, tolerated when damaged, older or newer, and what a chat makes of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.protocol import LoadOptions, Sampling
from desktop.models.named import Named
from desktop.models.sampling import preset_for, presets_of, values_of
from desktop.presets import RECOMMENDED, SAYS, SHIPPED, USUAL, OwnSampling, Preset, Prompt
from desktop.settings import ChatSettings, ModelChoices, Settings, SettingsFile

OLD_SAMPLING = {
    "temperature": 0.7,
    "top_k": 40,
    "top_p": 0.95,
    "min_p": 0.0,
    "repeat_penalty": 1.0,
    "repeat_last_n": 64,
    "seed": None,
}
"""As every chat and settings file had it before there were presets."""

numbers = st.fixed_dictionaries(
    {},
    optional={
        "temperature": st.floats(0, 100),
        "top_k": st.integers(0, 10**6),
        "top_p": st.floats(1e-6, 1),
        "min_p": st.floats(0, 1),
        "repeat_penalty": st.floats(0.01, 10),
        "repeat_last_n": st.integers(0, 10**6),
        "seed": st.integers(0, 2**63 - 1),
    },
)
junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@pytest.fixture
def settings(tmp_path: Path) -> SettingsFile:
    return SettingsFile(tmp_path / "settings.json")


def test_what_is_made_is_read_back(settings: SettingsFile) -> None:
    presets, prompts = Named[Preset](settings, "presets", SHIPPED), Named[Prompt](settings, "prompts")
    bold = presets.add(Preset(name="Bold", sampling=Sampling(temperature=1.4)))
    brief = prompts.add(Prompt(name="Brief", text="Be brief.\n“Yes” and “no” will do."))
    settings.change(preset=bold, models={"big": ModelChoices(preset="greedy", n_ctx=4096)})
    again = SettingsFile(settings.path)
    assert again.problem == ""
    assert again.now == settings.now
    assert (again.now.presets[bold].sampling.temperature, again.now.prompts[brief].name) == (1.4, "Brief")


@pytest.mark.parametrize(
    ("damage", "lost"),
    [
        ({"presets": {"a": {"name": "A"}, "b": {"sampling": {}}}}, "presets.b"),
        ({"presets": {"a": {"name": "A"}, "b": 7}}, "presets.b"),
        ({"presets": {"a": {"name": "A", "sampling": {"top_p": 7}}}}, "presets.a.sampling.top_p"),
        ({"presets": {"a": {"name": "A"}}, "prompts": [1]}, "prompts"),
        ({"presets": {"a": {"name": "A"}}, "models": {"big": {"n_ctx": 3}}}, "models.big.n_ctx"),
        ({"presets": {"a": {"name": "A"}}, "text_size": 900, "zoom": "huge"}, "text_size"),
        ({"presets": {"a": {"name": "A"}}, "send_with": "smoke"}, "send_with"),
    ],
)
def test_a_slip_costs_only_itself(tmp_path: Path, damage: dict[str, Any], lost: str) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"theme": "dark"} | damage))
    settings = SettingsFile(path)
    assert settings.now.theme == "dark"
    assert settings.now.presets["a"].name == "A"
    assert f"“{lost}”" in settings.problem
    assert presets_of(settings.now).items() >= SHIPPED.items()


@given(st.dictionaries(st.sampled_from([*Settings.model_fields, "else"]), junk))
def test_no_file_is_so_damaged_that_a_good_field_is_lost(tmp_path_factory: pytest.TempPathFactory, raw: Any) -> None:
    path = tmp_path_factory.mktemp("settings") / "settings.json"
    path.write_text(json.dumps(raw | {"theme": "dark", "target": "big"}))
    settings = SettingsFile(path)
    assert (settings.now.theme, settings.now.target) == ("dark", "big")
    assert SettingsFile(path).now == settings.now
    assert preset_for(settings.now, "big") in {*presets_of(settings.now), RECOMMENDED}


def test_what_nobody_chose_before_there_were_presets_follows_them_now(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    chat = {"system_prompt": "Be brief.", "sampling": OLD_SAMPLING, "max_tokens": None, "thinking": None}
    path.write_text(json.dumps({"new_chat": chat, "load": LoadOptions(n_ctx=2048).model_dump()}))
    now = SettingsFile(path).now
    assert now.new_chat == ChatSettings(system_prompt="Be brief.")
    assert now.load.n_ctx == 2048
    chosen = ChatSettings.model_validate(chat | {"sampling": OLD_SAMPLING | {"temperature": 0.2, "seed": 5}})
    assert chosen.sampling == OwnSampling(temperature=0.2, seed=5)
    stored = chosen.model_copy(update={"sampling": OwnSampling(temperature=0.7)}).model_dump(mode="json")
    assert ChatSettings.model_validate(stored).sampling.temperature == 0.7, "chosen since, although it was the default"


@given(numbers, numbers)
def test_a_chats_own_values_lie_over_its_preset(preset: dict[str, Any], own: dict[str, Any]) -> None:
    base = Sampling(**preset)
    mine = OwnSampling(**own)
    got = mine.over(base)
    for name in Sampling.model_fields:
        if name == "seed":
            assert got.seed == own.get("seed"), "a preset has none"
        elif name in own:
            assert getattr(got, name) == getattr(Sampling(**{name: own[name]}), name)
        else:
            assert getattr(got, name) == getattr(base, name)
    assert OwnSampling.model_validate_json(mine.model_dump_json()) == mine


def test_which_preset_a_model_has() -> None:
    now = Settings(presets={"mine": Preset(name="Mine")}, models={"big": ModelChoices(preset="mine")})
    assert (preset_for(now, "big"), preset_for(now, "small"), preset_for(now, None)) == ("mine", *[RECOMMENDED] * 2)
    now = now.model_copy(update={"preset": "creative"})
    assert (preset_for(now, "big"), preset_for(now, "small")) == ("mine", "creative")
    now = now.model_copy(update={"presets": {}})
    assert preset_for(now, "big") == "creative", "its own was deleted"
    presets, published = presets_of(now), Sampling(temperature=0.6)
    assert values_of(presets, RECOMMENDED, published) == published
    assert values_of(presets, RECOMMENDED, None) == SHIPPED[USUAL].sampling


def test_the_shipped_ones_cannot_be_overwritten_and_say_where_they_are_from() -> None:
    now = Settings(presets={"greedy": Preset(name="Fake", sampling=Sampling(temperature=9))})
    assert presets_of(now)["greedy"] == SHIPPED["greedy"]
    assert SAYS.keys() == SHIPPED.keys()
    greedy = SHIPPED["greedy"].sampling
    off = (greedy.temperature, greedy.top_k, greedy.top_p, greedy.min_p, greedy.repeat_penalty)
    assert off == (0, 0, 1, 0, 1), "nothing hidden is on"


def test_names_are_free_and_deletions_come_back_where_they_were(settings: SettingsFile) -> None:
    presets = Named[Preset](settings, "presets", SHIPPED)
    first, second, third = (presets.add(Preset(name="Balanced")) for _ in range(3))
    assert [preset.name for preset in presets.own.values()] == ["Balanced 2", "Balanced 3", "Balanced 4"]
    assert presets.name_problem(second, "balanced 2") == "another one is called that."
    assert presets.name_problem(second, "Balanced 3") == ""
    assert presets.name_problem(second, "  ") == "a name is needed."
    assert "too long" in presets.name_problem(second, "n" * 61)
    before = presets.own
    presets.delete(second)
    presets.delete("greedy")
    assert list(presets.own) == [first, third]
    assert presets.deleted == "Balanced 3"
    assert presets.undo() == second
    assert presets.own == before
    assert list(presets.own) == [first, second, third]
    assert presets.undo() == ""
    presets.delete(second)
    assert presets.add(Preset(name="Balanced")) not in before, "a chat may still ask for the old one"


def test_a_models_own_numbers_lie_over_those_of_all() -> None:
    now = Settings(load=LoadOptions(n_ctx=8192, gpu_layers=4, threads=3), models={"big": ModelChoices(gpu_layers=0)})
    assert now.load_for("big") == LoadOptions(n_ctx=8192, gpu_layers=0, threads=3)
    assert now.load_for("small") == now.load_for(None) == now.load
