"""One file over real HTTP into a partial file: every answer to a request for the rest, and no foreign byte appended."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from httpx2 import Client

from backend.library.partial import Partial
from backend.library.transfer import BrokenError, RefusedError, Tell, UnfitError, Wanted, fetch
from tests.unit.library.server import CONTENT, Hub, serving

SHA256 = hashlib.sha256(CONTENT).hexdigest()
HALF = 1_500_000


@pytest.fixture
def hub() -> Iterator[Hub]:
    with serving(Hub()) as made:
        yield made


@pytest.fixture
def partial(models_folder: Path) -> Partial:
    return Partial(models_folder / "m.gguf")


class Heard:
    """What a transfer told."""

    def __init__(self) -> None:
        self.checked: list[int] = []
        self.done: list[int] = []
        self.waits: list[str] = []

    def tell(self) -> Tell:
        return Tell(self.checked.append, self.done.append, lambda _, why: self.waits.append(why))


def get(hub: Hub, partial: Partial, *, size: int | None = len(CONTENT), sha256: str | None = SHA256) -> Heard:
    """Fetch it all; the partial file is then the content of the hub."""
    heard = Heard()
    with Client(follow_redirects=True) as client:
        found = fetch(client, Wanted(f"{hub.url}/bytes", {}, size, sha256), partial, heard.tell(), pause=0.01)
    assert partial.file.read_bytes() == hub.content
    assert found == hashlib.sha256(hub.content).hexdigest()
    return heard


def begun(hub: Hub, partial: Partial, **known: object) -> None:
    """The first half came, then nothing more for ever."""
    hub.breaks = [HALF] + [0] * 9
    with pytest.raises(BrokenError):
        get(hub, partial, **known)  # type: ignore[arg-type]
    assert partial.size == HALF
    hub.breaks, hub.requests = [], []


def test_the_rest_is_asked_for_and_appended(hub: Hub, partial: Partial) -> None:
    begun(hub, partial)
    heard = get(hub, partial)
    (asked,) = hub.gets
    assert (asked["range"], asked["if-range"]) == (f"bytes={HALF}-", '"one"')
    assert heard.checked[-1] == HALF  # what was here is hashed, not trusted
    assert heard.done[0] == HALF
    assert heard.done == sorted(heard.done)


def test_a_connection_that_breaks_is_taken_up_at_once(hub: Hub, partial: Partial) -> None:
    hub.breaks = [HALF, 1000]
    heard = get(hub, partial)
    assert [h.get("range") for h in hub.gets] == [None, f"bytes={HALF}-", f"bytes={HALF + 1000}-"]
    assert len(heard.waits) == 2


def test_a_file_that_changed_meanwhile_is_begun_anew(hub: Hub, partial: Partial) -> None:
    begun(hub, partial, size=None, sha256=None)
    hub.content, hub.mark = b"GGUF" + CONTENT[:100:-1], '"two"'
    get(hub, partial, size=None, sha256=None)
    assert hub.gets[0]["if-range"] == '"one"'


def test_a_hash_that_changed_meanwhile_is_begun_anew_without_asking(hub: Hub, partial: Partial) -> None:
    begun(hub, partial)
    hub.content, hub.mark = CONTENT[::-1][:-4] + b"end.", '"two"'
    hub.content = b"GGUF" + hub.content[4:]
    get(hub, partial, sha256=hashlib.sha256(hub.content).hexdigest())
    assert "range" not in hub.gets[0]


def test_a_server_without_ranges_sends_the_whole(hub: Hub, partial: Partial) -> None:
    begun(hub, partial)
    hub.ranges = False
    get(hub, partial)
    assert len(hub.gets) == 1


def test_a_weak_mark_does_not_identify_bytes(hub: Hub, partial: Partial) -> None:
    hub.mark = 'W/"one"'
    begun(hub, partial, sha256=None)
    get(hub, partial, sha256=None)
    assert "range" not in hub.gets[0]


def test_no_rest_of_what_is_whole(hub: Hub, partial: Partial) -> None:
    """The size is not known beforehand, and the last bytes came just before the end."""
    partial.file.write_bytes(CONTENT)
    partial.keep(mark='"one"', size=None, sha256=None)
    get(hub, partial, size=None, sha256=None)
    assert len(hub.gets) == 1


def test_no_rest_of_what_is_too_long_is_begun_anew(hub: Hub, partial: Partial) -> None:
    partial.file.write_bytes(CONTENT + b"more")
    partial.keep(mark='"one"', size=None, sha256=None)
    get(hub, partial, size=None, sha256=None)
    assert [h.get("range") for h in hub.gets] == [f"bytes={len(CONTENT) + 4}-", None]


def test_what_is_shorter_than_was_published_is_not_whole(hub: Hub, partial: Partial) -> None:
    """Also where the server has no more than what is here."""
    partial.file.write_bytes(CONTENT[:HALF])
    partial.keep(mark='"one"', size=len(CONTENT), sha256=None)
    hub.content = CONTENT[:HALF]
    with pytest.raises(UnfitError, match=r"1,500,000 bytes instead of 3,000,004"):
        get(hub, partial, sha256=None)


def test_a_folder_that_went_is_made_again(hub: Hub, models_folder: Path) -> None:
    get(hub, Partial(models_folder / "went" / "m.gguf"))


def test_what_is_whole_is_not_asked_for(hub: Hub, partial: Partial) -> None:
    partial.file.write_bytes(CONTENT)
    partial.keep(mark='"one"', size=len(CONTENT), sha256=SHA256)
    get(hub, partial)
    assert hub.gets == []


def test_a_partial_file_without_a_note_is_not_trusted(hub: Hub, partial: Partial) -> None:
    partial.file.write_bytes(b"GGUF of somebody else")
    get(hub, partial)
    assert "range" not in hub.gets[0]


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_busy_server_is_asked_again(hub: Hub, partial: Partial, status: int) -> None:
    hub.statuses = [status, status, 200]
    assert len(get(hub, partial).waits) == 2


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_refusal_is_told_by_its_number(hub: Hub, partial: Partial, status: int) -> None:
    hub.statuses = [status]
    with pytest.raises(RefusedError) as caught:
        get(hub, partial)
    assert caught.value.status == status
    assert not partial.file.exists()


@pytest.mark.parametrize("size", [None, len(CONTENT)])
def test_a_login_page_is_no_model_and_costs_nothing(hub: Hub, partial: Partial, size: int | None) -> None:
    begun(hub, partial, size=size)
    hub.page = b"<!DOCTYPE html><title>Welcome to our hotel</title>"
    with pytest.raises(UnfitError):
        get(hub, partial, size=size)
    assert partial.size == HALF
    hub.page = None
    get(hub, partial, size=size)
    assert hub.gets[-1]["range"] == f"bytes={HALF}-"


def test_what_does_not_begin_as_a_model_is_refused_at_once(hub: Hub, partial: Partial) -> None:
    hub.content = b"version https://git-lfs.github.com/spec/v1\n"
    with pytest.raises(UnfitError, match="begins with"):
        get(hub, partial, size=None, sha256=None)
    assert not partial.file.exists()


def test_an_empty_file_is_refused(hub: Hub, partial: Partial) -> None:
    hub.content = b""
    with pytest.raises(UnfitError, match="empty"):
        get(hub, partial, size=None, sha256=None)
    assert not partial.file.exists()


def test_another_size_than_was_published_is_refused(hub: Hub, partial: Partial) -> None:
    with pytest.raises(UnfitError, match=r"3,000,004 bytes instead of 3,000,005"):
        get(hub, partial, size=len(CONTENT) + 1)


def test_a_silent_server_ends_as_a_broken_connection(hub: Hub, partial: Partial) -> None:
    hub.stall_after = 0
    with Client(timeout=0.2) as client, pytest.raises(BrokenError):
        fetch(client, Wanted(f"{hub.url}/bytes"), partial, Heard().tell(), pause=0.001)
