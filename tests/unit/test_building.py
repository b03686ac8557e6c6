"""While the engine is compiled: how far that is, and about how long the rest takes."""

from __future__ import annotations

from installers import progress


def test_a_build_tells_how_far_it_is_and_about_how_long_the_rest_takes() -> None:
    clock = 0.0
    step = progress.Building(lambda: clock)
    assert step("cmake configures") is None
    assert step("[1/201] cc") == "[1/201]", "nothing is known yet"
    clock = 2.0
    assert step("[40/201] cc") == "[40/201]"
    clock = 60.0
    assert step("[51/201] cc") == "[51/201] about 3 min left"
    clock = 200.0
    assert step("[161/201] cc") == "[161/201] about 50 s left"
    assert step("[201/201] ld") == "[201/201]"
    clock = 210.0
    assert step("[1/90] shader") == "[1/90]", "another build begins"
    clock = 220.0
    assert step("[ 21%] Building CXX object") == "[21 %]", "and one with make"
    clock = 240.0
    assert step("[ 61%] Building CXX object") == "[61 %] about 20 s left"
