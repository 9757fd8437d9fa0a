"""`vault-memex token`, and what `vault-memex serve` refuses to open."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.test_commands import Run, run  # noqa: F401 -- a fixture
from vault_memex.store.tokens import Tokens


def test_a_token_is_shown_once_listed_without_its_text_and_revoked(run: Run, sample: Path) -> None:  # noqa: F811
    made = run("token", "add", "house-bot")
    secret = made.out.strip()
    token = Tokens(Path(os.environ["VAULT_MEMEX_TOKENS"]), sample).check(secret)
    assert token is not None
    listed = run("token", "list", "--json")

    assert "Shown once" in made.err
    assert [{"id": token.id, "connection": "house-bot", "created": token.created}] == json.loads(listed.out)
    assert token.id in run("token", "list").out
    assert secret not in listed.out
    assert f"revoked: {token.id} (house-bot)\n" == run("token", "revoke", token.id).out
    assert "nobody can come in" in run("token", "list").out
    assert 2 == run("token", "revoke", token.id).status


@pytest.mark.parametrize("words", [("add",), ("revoke",), ("list", "house-bot"), ("add", "a/b")])
def test_half_a_command_changes_nothing(run: Run, words: tuple[str, ...]) -> None:  # noqa: F811
    assert 2 == run("token", *words).status
    assert not Path(os.environ["VAULT_MEMEX_TOKENS"]).exists()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--http", "--host", "0.0.0.0"), "--allow-remote"),
        (("--http", "--host", "192.0.2.1"), "--allow-remote"),
        (("--http", "--as", "claude"), "the token names the connection"),
        (("--http", "--host", "192.0.2.1", "--allow-remote"), "cannot be had"),
        (("--http", "--port", "0", "--tools", "nonsense"), "--tools nonsense"),
        (("--port", "1"), "go with --http"),
        (("--allow-remote",), "go with --http"),
    ],
)
def test_what_opens_too_much_or_says_nothing_is_refused(run: Run, more: tuple[str, ...], said: str) -> None:  # noqa: F811
    ran = run("serve", *more)

    assert 2 == ran.status
    assert said in ran.err
