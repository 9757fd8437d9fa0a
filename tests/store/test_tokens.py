"""Tokens: known by their hash alone, for one vault, and gone when they are revoked."""

from __future__ import annotations

import stat
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

from vault_memex.errors import InvalidArgument, NotFound, VaultError
from vault_memex.store.tokens import Tokens

NOW = datetime(2026, 11, 30, tzinfo=UTC)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "own/tokens.json"


def test_a_token_is_known_until_it_is_revoked_and_only_in_its_vault(
    file: Path, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    tokens, others = Tokens(file, folder), Tokens(file, tmp_path / "other")
    one, two = tokens.add("bot", NOW), tokens.add("bot", NOW)
    kept = others.add("bot", NOW)

    assert one.token == tokens.check(one.secret)
    assert None is others.check(one.secret)
    assert [None] * 4 == [tokens.check(bad) for bad in ("", one.secret[:-1], one.token.hash, "\udc80")]
    assert (one.token,) == tokens.revoke(one.token.id)
    assert None is tokens.check(one.secret)
    assert (two.token,) == tokens.revoke("bot")
    assert () == tokens.find()
    assert kept.token == others.check(kept.secret)


def test_the_secret_is_nowhere_and_the_file_is_the_persons_alone(file: Path, folder: Path) -> None:
    made = Tokens(file, folder).add("bot", NOW)

    assert 43 <= len(made.secret.removeprefix("vmx_"))
    assert made.secret.removeprefix("vmx_") not in file.read_text(encoding="utf-8")
    assert 0o600 == stat.S_IMODE(file.stat().st_mode)
    assert 0o700 == stat.S_IMODE(file.parent.stat().st_mode)


def test_tokens_made_at_the_same_time_are_all_kept(file: Path, folder: Path) -> None:
    threads = [threading.Thread(target=Tokens(file, folder).add, args=(f"bot-{n}", NOW)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {f"bot-{n}" for n in range(8)} == {token.connection for token in Tokens(file, folder).find()}


def test_what_cannot_be_is_refused(file: Path, folder: Path) -> None:
    with pytest.raises(VaultError, match="not kept inside the vault"):
        Tokens(folder / "tokens.json", folder)
    with pytest.raises(InvalidArgument, match="names no connection"):
        Tokens(file, folder).add("a/b", NOW)
    with pytest.raises(NotFound, match="No token has the id or connection"):
        Tokens(file, folder).revoke("nobody")
    file.write_text('{"tokens": [1]}', encoding="utf-8")
    with pytest.raises(VaultError, match="Mend or remove it"):
        Tokens(file, folder).check("vmx_x")
