"""Tokens by which clients over HTTP are known. Their hashes lie in the user's own folder, never in a vault.

A token is 256 bits of randomness, so a plain SHA-256 of it tells nothing; it is shown once, when it is made.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from vault_memex.errors import NotFound, VaultError, VaultLocked
from vault_memex.memory.connections import check_name
from vault_memex.store.disk import os_error_as_memex
from vault_memex.store.file_lock import FileLock, find_lock
from vault_memex.store.journal import render_moment

VARIABLE = "VAULT_MEMEX_TOKENS"
PREFIX = "vmx_"
_BYTES = 32
_LOCK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Token:
    """What is kept of a token."""

    id: str
    connection: str
    vault: str  # the vault's real path: it opens no other
    hash: str  # SHA-256, hex
    created: str  # UTC


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token just made, and the text that nobody sees again."""

    token: Token
    secret: str


def find_token_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Return where tokens are kept: the file that VAULT_MEMEX_TOKENS names, else one in the user's settings."""
    named = environment.get(VARIABLE)
    if named:
        return Path(named).expanduser()
    import platformdirs

    return Path(platformdirs.user_config_dir("vault-memex", appauthor=False)) / "tokens.json"


class Tokens:
    """The tokens of one vault."""

    def __init__(self, file: Path, root: Path) -> None:
        self._file = file
        self._vault = os.path.realpath(root)
        if Path(self._vault) in Path(os.path.realpath(file)).parents:
            raise VaultError(f"Tokens are not kept inside the vault. Name another file in {VARIABLE}.")

    def find(self) -> tuple[Token, ...]:
        """Return the tokens of the vault, the oldest first."""
        return tuple(token for token in self._read() if token.vault == self._vault)

    def check(self, secret: str) -> Token | None:
        """Return the token whose text this is; None when there is none, or none any more."""
        wanted = _hash(secret)
        found = None
        for token in self.find():  # all are compared, whichever it is
            if hmac.compare_digest(token.hash, wanted):
                found = token
        return found

    def add(self, connection: str, now: datetime) -> NewToken:
        """Make a token for a connection."""
        check_name(connection)
        secret = PREFIX + secrets.token_urlsafe(_BYTES)
        token = Token(secrets.token_hex(4), connection, self._vault, _hash(secret), render_moment(now))
        with self._changing() as tokens:
            tokens.append(token)
        return NewToken(token, secret)

    def revoke(self, name: str) -> tuple[Token, ...]:
        """Forget the token of this id, or all of this connection; return them. Raises NotFound."""
        with self._changing() as tokens:
            gone = [t for t in tokens if t.vault == self._vault and name in (t.id, t.connection)]
            if not gone:
                raise NotFound(f"No token has the id or connection {name!r}. See them: vault-memex token list")
            tokens[:] = [token for token in tokens if token not in gone]
        return tuple(gone)

    @contextmanager
    def _changing(self) -> Iterator[list[Token]]:
        """Yield all tokens as a list, and write what is left in it afterwards."""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            lock = _wait_lock(self._file.with_suffix(".lock"))
            try:
                tokens = list(self._read())
                yield tokens
                self._write(tokens)
            finally:
                lock.release()
        except OSError as error:
            raise os_error_as_memex(error, "the file of tokens") from None

    def _read(self) -> Sequence[Token]:
        try:
            text = self._file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise os_error_as_memex(error, "the file of tokens") from None
        try:
            return [Token(**one) for one in json.loads(text)["tokens"]]
        except (ValueError, TypeError, KeyError):
            raise VaultError(f"{self._file} does not say which tokens there are. Mend or remove it.") from None

    def _write(self, tokens: Sequence[Token]) -> None:
        data = json.dumps({"tokens": [asdict(token) for token in tokens]}, indent=1).encode("utf-8")
        temp = self._file.with_name(f".{self._file.name}.{secrets.token_hex(3)}")
        descriptor = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temp, self._file)


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", errors="surrogateescape")).hexdigest()


def _wait_lock(path: Path) -> FileLock:
    until = time.monotonic() + _LOCK_SECONDS
    while (lock := find_lock(path)) is None:
        if time.monotonic() > until:
            raise VaultLocked("Another program is changing the tokens. Try again in a moment.")
        time.sleep(0.02)
    return lock
