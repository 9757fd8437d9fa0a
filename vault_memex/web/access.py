"""Who may come in: the person who started the page, through a browser on this machine."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass
from threading import Lock

COOKIE = "vault_memex"


@dataclass(frozen=True, slots=True)
class Keys:
    """The secrets of one run. Nothing keeps them; the next run has others.

    All pages lie under `base`: browsers send a cookie to every port of a machine, but only under its path, and no
    other program serves anything there.
    """

    base: str  # "/k3j9xq2f"
    token: str  # in the address that is printed
    session: str  # the cookie's value
    form: str  # a field of every form


def make_keys() -> Keys:
    """Return new secrets."""
    return Keys(f"/{secrets.token_hex(6)}", *(secrets.token_urlsafe(32) for _ in range(3)))


class Tickets:
    """Tokens that let in once. The browser is started with one: others on the machine can read its arguments."""

    def __init__(self) -> None:
        self._open: set[str] = set()
        self._lock = Lock()

    def issue(self) -> str:
        """Return a new one."""
        ticket = secrets.token_urlsafe(32)
        with self._lock:
            self._open.add(ticket)
        return ticket

    def take(self, ticket: str) -> bool:
        """Return whether it was good; from now on it is not."""
        with self._lock:
            found = ticket in self._open
            self._open.discard(ticket)
            return found


def is_equal(sent: str, wanted: str) -> bool:
    """Compare secrets in a time that does not tell how far they agree."""
    return hmac.compare_digest(sent.encode("utf-8", "replace"), wanted.encode())
