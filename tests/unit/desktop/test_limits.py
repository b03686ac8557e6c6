"""What is typed for a number: taken as it is meant, or refused with the reason."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QLocale

from backend.protocol import LoadOptions, Sampling, Speculation
from desktop.models.limits import Unfit, read_number, shown_number
from desktop.presets import OwnSampling
from desktop.settings import ChatSettings


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    before = QLocale()
    QLocale.setDefault(QLocale("en_GB"))
    yield
    QLocale.setDefault(before)


@pytest.mark.parametrize(
    ("model", "field", "text", "whole", "value"),
    [
        (Sampling, "temperature", " 0.7 ", False, 0.7),
        (Sampling, "temperature", "1", False, 1),
        (Sampling, "temperature", "1e-9", False, 0),
        (Sampling, "top_k", "1,000", True, 1000),
        (LoadOptions, "n_ctx", "8192", True, 8192),
        (Speculation, "length", "0", True, 0),
        (OwnSampling, "seed", str(2**63 - 1), True, 2**63 - 1),
    ],
)
def test_numbers_are_taken(model: type, field: str, text: str, whole: bool, value: float) -> None:
    assert read_number(model, field, text, whole=whole) == value


@pytest.mark.parametrize(
    ("model", "field", "text", "whole", "why"),
    [
        (Sampling, "temperature", "warm", False, "“warm” is not a number."),
        (Sampling, "temperature", "nan", False, "“nan” is not a number."),
        (Sampling, "temperature", "-1", False, "-1 is too small: at least 0."),
        (Sampling, "top_p", "0", False, "0 is too small: more than 0."),
        (Sampling, "top_p", "1.5", False, "1.5 is too large: at most 1."),
        (Sampling, "top_k", "2.5", True, "2.5 is not a whole number."),
        (LoadOptions, "n_ctx", "63", True, "63 is too small: at least 64."),
        (Speculation, "length", "49", True, "49 is too large: at most 48."),
        (ChatSettings, "max_tokens", "0", True, "0 is too small: at least 1."),
        (OwnSampling, "seed", str(2**63), True, f"{2**63} is too large: at most 9,223,372,036,854,775,807."),
    ],
)
def test_what_cannot_be_used_is_explained(model: type, field: str, text: str, whole: bool, why: str) -> None:
    with pytest.raises(Unfit) as caught:
        read_number(model, field, text, whole=whole)
    assert str(caught.value) == why


def test_numbers_are_written_as_where_one_lives_and_as_in_programs() -> None:
    QLocale.setDefault(QLocale("de_DE"))
    assert shown_number(0.7) == "0,7"
    assert shown_number(16384) == "16384"
    assert read_number(Sampling, "temperature", "0,7", whole=False) == 0.7
    assert read_number(Sampling, "temperature", "0.7", whole=False) == 0.7
    assert read_number(LoadOptions, "n_ctx", "16.384", whole=True) == 16384


@given(st.text(max_size=12) | st.floats().map(str) | st.integers().map(str))
def test_whatever_is_typed_is_a_fitting_number_or_has_a_reason(text: str) -> None:
    for model, field, whole in ((Sampling, "top_p", False), (LoadOptions, "threads", True)):
        why = ""
        try:
            value = read_number(model, field, text, whole=whole)
        except Unfit as unfit:
            why = str(unfit)
        assert why.endswith(".") if why else getattr(model(**{field: value}), field) == value


@given(st.floats(0, 100), st.integers(0, 10**9))
def test_what_is_shown_reads_as_what_it_is(number: float, count: int) -> None:
    number = float(f"{number:.6g}")
    assert read_number(Sampling, "temperature", shown_number(number), whole=False) == (number if number >= 1e-6 else 0)
    assert read_number(Sampling, "top_k", shown_number(count), whole=True) == count
