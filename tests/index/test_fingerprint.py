"""When the catalogue has to be made anew although no file changed."""

from __future__ import annotations

from pathlib import Path

from vault_memex.config import Config
from vault_memex.index.fingerprint import find_fingerprint
from vault_memex.store.schema import FILE_NAME, connect
from vault_memex.vault import open_vault


def test_fingerprint_follows_the_layer_mapping_and_nothing_that_does_not_matter() -> None:
    plain = find_fingerprint(Config())

    assert plain == find_fingerprint(Config(model="none", reconcile_seconds=5.0, ignore=("x",)))
    assert plain != find_fingerprint(Config(layers=(("journal/*", "past"),)))
    assert 32 == len(plain)


def test_an_opened_vault_s_catalogue_bears_the_fingerprint(folder: Path) -> None:
    vault = open_vault(folder, flags={"model": "none"})
    vault.close()

    db = connect(vault.cache / FILE_NAME)
    assert (find_fingerprint(Config(model="none")),) == db.execute("SELECT value FROM fingerprint").fetchone()
    db.close()
