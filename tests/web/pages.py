"""A vault with things that wait, and the page over it as a client has it."""

from __future__ import annotations

from starlette.testclient import TestClient

from vault_memex.vault import Vault
from vault_memex.web.access import Keys, Tickets, make_keys
from vault_memex.web.app import build_app

PORT = 8123
ORIGIN = f"http://127.0.0.1:{PORT}"


class Pages:
    """The page of a vault, asked as a browser asks."""

    def __init__(self, vault: Vault) -> None:
        self.keys: Keys = make_keys()
        self.tickets = Tickets()
        self.client = TestClient(
            build_app(vault, self.keys, self.tickets, PORT), base_url=ORIGIN, follow_redirects=False
        )

    def enter(self) -> Pages:
        """Come in by the address that was printed."""
        assert 200 == self.client.get(f"{self.keys.base}/?token={self.keys.token}").status_code
        return self

    def get(self, place: str = "", code: int = 200) -> str:
        """Return a page's HTML."""
        answer = self.client.get(f"{self.keys.base}/{place}")
        assert code == answer.status_code, answer.text
        return answer.text

    def post(self, place: str, code: int = 303, **fields: str) -> str:
        """Send a form as the page would; return where it leads, or what is shown."""
        answer = self.client.post(
            f"{self.keys.base}/{place}", data={"form_key": self.keys.form, **fields}, headers={"origin": ORIGIN}
        )
        assert code == answer.status_code, answer.text
        return answer.headers["location"] if code == 303 else answer.text
