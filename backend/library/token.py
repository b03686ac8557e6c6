"""The token that shows the model hub who asks, which only gated models need.

It comes from the system's keyring, where the window puts it, or from where the hub's own programs keep it: ``HF_TOKEN``
or their file. Tandem never writes it to a file, a log or a command line, and sends it to no other host than the hub.
"""

from __future__ import annotations

import logging
from typing import Literal

import huggingface_hub

log = logging.getLogger(__name__)
_SERVICE, _USER = "tandem", "hugging-face"
Place = Literal["", "keyring", "surroundings"]


def find_token() -> tuple[str | None, Place]:
    """The token and where it comes from. May ask the person to unlock the keyring: not for the window's thread."""
    kept = _ask_keyring()
    if kept:
        return kept, "keyring"
    found = huggingface_hub.get_token()
    return (found, "surroundings") if found else (None, "")


def keep_token(token: str) -> bool:
    """Put it into the keyring. False where the system has none that takes it."""
    import keyring
    import keyring.errors

    try:
        keyring.set_password(_SERVICE, _USER, token)
    except (keyring.errors.KeyringError, RuntimeError, OSError) as error:
        log.warning("the keyring did not take the token: %s", type(error).__name__)
        return False
    return True


def forget_token() -> None:
    """Take it out of the keyring; nothing where there is none."""
    import keyring
    import keyring.errors

    try:
        keyring.delete_password(_SERVICE, _USER)
    except (keyring.errors.KeyringError, RuntimeError, OSError) as error:
        log.info("no token was removed from the keyring: %s", type(error).__name__)


def _ask_keyring() -> str | None:
    import keyring
    import keyring.errors

    try:
        return keyring.get_password(_SERVICE, _USER)
    except (keyring.errors.KeyringError, RuntimeError, OSError) as error:
        log.info("the keyring was not read: %s", type(error).__name__)
        return None
