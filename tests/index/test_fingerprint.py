"""When the catalogue has to be made anew although no file changed."""

from __future__ import annotations

from vault_memex.config import Config
from vault_memex.index.fingerprint import find_fingerprint


def test_fingerprint_follows_the_layer_mapping_and_nothing_that_does_not_matter() -> None:
    plain = find_fingerprint(Config())

    assert plain == find_fingerprint(Config(model="none", reconcile_seconds=5.0, ignore=("x",)))
    assert plain != find_fingerprint(Config(layers=(("journal/*", "past"),)))
    assert 32 == len(plain)
