"""Collections of cycles are held off while much is made, and go on as they did."""

from __future__ import annotations

import gc

import pytest

from vault_memex.store.quiet import without_collections


def test_collections_go_on_when_the_outermost_is_left() -> None:
    seen = []
    with without_collections():
        with without_collections():
            seen.append(gc.isenabled())
        seen.append(gc.isenabled())

    assert ([False, False], True) == (seen, gc.isenabled())


def test_what_was_off_stays_off_and_an_error_leaves_nothing_behind() -> None:
    gc.disable()
    try:
        with pytest.raises(KeyError), without_collections():
            raise KeyError

        assert not gc.isenabled()
    finally:
        gc.enable()


def test_what_is_kept_is_not_looked_at_again() -> None:
    gc.unfreeze()
    with without_collections(keep=True):
        made = [[number] for number in range(1_000)]
    kept = gc.get_freeze_count()
    gc.unfreeze()

    assert kept >= len(made)
