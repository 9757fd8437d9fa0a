"""The only code that touches disk, git, SQLite and LanceDB."""
