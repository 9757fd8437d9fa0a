"""`vault-memex init`: the few files a vault needs."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from vault_memex.errors import VaultError
from vault_memex.vault import open_vault

CONFIG = """\
# Settings of this vault for vault-memex. Every line is optional; what stands here commented out is the default.

# commit = "auto"          # each: one git commit per write; off: none; auto: each when this folder is a git work tree
# write_ids = "own"        # own: `id:` only in notes the assistant creates; all; never
# new_note_folder = ""     # where `save` puts a note that names no folder
# ignore = []              # folders or patterns that are not notes, for example ["Templates", "drafts/**"]
# model = "multilingual-e5-small"   # another fastembed model, a folder with an ONNX model, or "none"

# [layers]                 # a layer for whole folders; the note's own `layer` wins
# "journal/**" = "past"
"""


def run(options: argparse.Namespace) -> int:
    """Write settings where there are none, then index and number the notes."""
    root = Path(options.folder).expanduser()
    if not root.is_dir():
        raise VaultError(f"{root} is not a folder. Make it first, or name another.")
    cache = Path(options.cache_dir).expanduser() if options.cache_dir else None
    vault = open_vault(root, cache_dir=cache, flags={"role": "owner", "connection": "owner"})
    try:
        made = vault.init(CONFIG)
        notes = vault.catalogue.count_notes()
    finally:
        vault.close()
    print(f"{root.resolve()}: {notes} notes.")
    for line in made:
        print(f"  {line}")
    print("Connect Claude Code:")
    print(f"  claude mcp add memory -- vault-memex serve --vault {shlex.quote(str(root.resolve()))}")
    return 0
