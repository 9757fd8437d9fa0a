"""House rules beside the instructions: as a resource and as a prompt, for clients that cut instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vault_memex.vault import Vault

if TYPE_CHECKING:
    from vault_memex.server.app import MemexServer

RULES_URI = "vault://rules"
NONE = "No house rules are in force."
_ABOUT = "What the person wants of every assistant, as it is now; the same text follows the server's instructions."


def add_rules(app: MemexServer, vault: Vault) -> None:
    """Add the resource and the prompt."""

    @app.resource(RULES_URI, name="rules", title="House rules", description=_ABOUT, mime_type="text/markdown")
    def rules() -> str:
        return vault.rules.find().text or NONE

    @app.prompt(name="house-rules", title="House rules", description=_ABOUT)
    def house_rules() -> str:
        return vault.rules.find().text or NONE
