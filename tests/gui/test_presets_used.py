"""Presets in what the engine is asked: the model's, the chat's, changed from the next message, and what is its own."""

from __future__ import annotations

from PySide6.QtWidgets import QDialogButtonBox
from pytestqt.qtbot import QtBot

from backend.library.catalogue import shipped_catalogue
from backend.library.library import LibraryModel
from backend.protocol import Sampling
from desktop.presets import RECOMMENDED, SHIPPED, OwnSampling, Preset
from desktop.settings import ChatSettings, ModelChoices
from desktop.start import Desktop
from desktop.views.chat_settings import ChatSettingsDialog
from tests.gui.person import finished, send
from tests.gui.scripted import ScriptedEngine, model


def asked(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> Sampling:
    """What the next message is sent with."""
    send(desktop, qtbot)
    finished(desktop, qtbot)
    return engine.requests[-1].sampling


def unseeded(sampling: Sampling) -> Sampling:
    """Each message has a seed of its own."""
    return sampling.model_copy(update={"seed": None})


def opened(desktop: Desktop) -> ChatSettingsDialog:
    desktop.window.edit_chat_settings()
    dialog = desktop.window.findChild(ChatSettingsDialog)
    assert dialog is not None
    return dialog


def choose(dialog: ChatSettingsDialog, preset: str | None) -> None:
    at = next(n for n in range(dialog.preset.count()) if dialog.preset.itemData(n) == preset)
    dialog.preset.setCurrentIndex(at)
    dialog.preset.activated.emit(at)


def test_the_models_preset_and_then_another_one(desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot) -> None:
    assert unseeded(asked(desktop, engine, qtbot)) == SHIPPED["balanced"].sampling
    desktop.settings.change(models={"big": ModelChoices(preset="greedy")})
    assert unseeded(asked(desktop, engine, qtbot)) == SHIPPED["greedy"].sampling
    desktop.settings.change(preset="creative", models={"small": ModelChoices(preset="greedy")})
    assert unseeded(asked(desktop, engine, qtbot)) == SHIPPED["creative"].sampling
    assert desktop.store.branch(desktop.store.chats()[0].id)[1].settings["sampling"]["top_k"] == 20, "as it was made"


def test_a_changed_preset_shows_from_the_next_message_and_own_values_stay(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    warm = Preset(name="Warm", sampling=Sampling(temperature=1.1, top_k=30))
    desktop.settings.change(presets={"warm": warm})
    dialog = opened(desktop)
    choose(dialog, "warm")
    field = dialog.fields["top_k"]
    assert field.edit.placeholderText() == "30"
    assert "The preset has 30." in field.words.text()
    qtbot.keyClicks(field.edit, "7")
    dialog.accept()
    got = asked(desktop, engine, qtbot)
    assert (got.temperature, got.top_k) == (1.1, 7)
    hot = warm.model_copy(update={"sampling": Sampling(temperature=1.5, top_k=50)})
    desktop.settings.change(presets={"warm": hot})
    got = asked(desktop, engine, qtbot)
    assert (got.temperature, got.top_k) == (1.5, 7)
    chat = desktop.store.chats()[0].id
    desktop.window.new_chat()
    assert unseeded(asked(desktop, engine, qtbot)) == SHIPPED["balanced"].sampling, "another chat is as it was"
    desktop.window.open_chat(chat)
    assert desktop.conversation.chat_settings.sampling == OwnSampling(top_k=7), "as read from the store"
    desktop.settings.change(presets={})
    got = asked(desktop, engine, qtbot)
    assert (got.temperature, got.top_k) == (0.7, 7), "a deleted preset leaves the model's"
    desktop.settings.change(presets={"warm": hot})
    assert asked(desktop, engine, qtbot).temperature == 1.5, "and is the chat's again once it is back"


def test_another_preset_keeps_what_is_the_chats_own(desktop: Desktop, qtbot: QtBot) -> None:
    dialog = opened(desktop)
    qtbot.keyClicks(dialog.fields["temperature"].edit, "0.3")
    choose(dialog, "creative")
    assert dialog.fields["temperature"].edit.text() == "0.3"
    assert dialog.fields["top_k"].edit.placeholderText() == "64"
    ok = dialog.buttons.button(QDialogButtonBox.StandardButton.Ok)
    qtbot.keyClicks(dialog.fields["top_p"].edit, "3")
    assert not ok.isEnabled()
    assert "3 is too large: at most 1." in dialog.fields["top_p"].words.text()
    dialog.fields["top_p"].edit.selectAll()
    qtbot.keyClicks(dialog.fields["top_p"].edit, "1")
    assert ok.isEnabled()
    assert dialog.chat == ChatSettings(preset="creative", sampling=OwnSampling(temperature=0.3, top_p=1.0))
    dialog.reject()
    assert desktop.conversation.chat_settings == ChatSettings()


def test_a_chats_settings_stay_its_own_whatever_is_shown_meanwhile(desktop: Desktop, qtbot: QtBot) -> None:
    """A click on the notice of a reply that has ended shows another chat behind the dialog."""
    for _ in range(2):
        desktop.window.new_chat()
        send(desktop, qtbot)
        finished(desktop, qtbot)
    second, first = (chat.id for chat in desktop.store.chats())
    dialog = opened(desktop)
    qtbot.keyClicks(dialog.fields["temperature"].edit, "0.3")
    desktop.window.open_chat(first)
    dialog.accept()
    desktop.store.flush()
    assert desktop.conversation.chat_settings == ChatSettings()
    desktop.window.open_chat(second)
    assert desktop.conversation.chat_settings == ChatSettings(sampling=OwnSampling(temperature=0.3))
    desktop.window.new_chat()
    opened(desktop)
    desktop.window.open_chat(first)
    left = desktop.window.findChildren(ChatSettingsDialog)
    assert not any(dialog.isVisible() for dialog in left), "the empty page that it was of is gone"


def test_what_the_publisher_recommends_follows_the_thinking(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    found = shipped_catalogue().find("qwen3-4b")
    assert found is not None
    desktop.shelf.models = [LibraryModel("big", "Big", "own", True, (), (), 1, "Q8_0", found[0])]
    engine.publish(target=model("big", template_variables=["enable_thinking"]))
    qtbot.waitUntil(lambda: bool(desktop.engine.state.target and desktop.engine.state.target.template_variables))
    assert asked(desktop, engine, qtbot).temperature == 0.6
    dialog = opened(desktop)
    assert dialog.preset.currentText() == "As the model: The publisher's values"
    assert dialog.thinking is not None
    dialog.thinking.setCurrentIndex(dialog.thinking.findData(False))
    dialog.thinking.activated.emit(dialog.thinking.currentIndex())
    assert dialog.fields["top_p"].edit.placeholderText() == "0.8"
    choose(dialog, RECOMMENDED)
    dialog.accept()
    assert asked(desktop, engine, qtbot).top_p == 0.8
    desktop.shelf.models = []


def test_a_chat_from_before_there_were_presets_keeps_what_was_chosen(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    chat = desktop.store.chats()[0].id
    sampling = {"temperature": 0.2, "top_k": 40, "top_p": 0.95, "min_p": 0.0, "repeat_penalty": 1.0}
    old = {"system_prompt": "", "sampling": sampling | {"repeat_last_n": 64, "seed": 5}, "max_tokens": 9}
    desktop.store.set_chat_settings(chat, old).result()
    desktop.window.new_chat()
    desktop.window.open_chat(chat)
    got = asked(desktop, engine, qtbot)
    assert (got.temperature, got.seed, got.top_k) == (0.2, 5, 20)
    assert engine.requests[-1].max_tokens == 9


def test_a_slip_in_a_chats_settings_costs_only_itself_and_a_newer_versions_stay(
    desktop: Desktop, engine: ScriptedEngine, qtbot: QtBot
) -> None:
    send(desktop, qtbot)
    finished(desktop, qtbot)
    chat = desktop.store.chats()[0].id
    sampling = {"temperature": "warm", "top_k": 7, "typical_p": 0.9}
    stored = {"system_prompt": "Be brief.", "preset": None, "sampling": sampling, "max_tokens": -1, "mood": "calm"}
    desktop.store.set_chat_settings(chat, stored).result()
    desktop.window.new_chat()
    desktop.window.open_chat(chat)
    assert desktop.window.page.notice.isVisible()
    assert desktop.conversation.chat_settings.system_prompt == "Be brief."
    assert asked(desktop, engine, qtbot).top_k == 7
    dialog = opened(desktop)
    qtbot.keyClicks(dialog.longest.edit, "50")
    dialog.accept()
    found = desktop.store.chat(chat)
    assert found is not None
    assert (found.settings["sampling"]["typical_p"], found.settings["mood"]) == (0.9, "calm")
    assert (found.settings["sampling"]["top_k"], found.settings["max_tokens"]) == (7, 50)
