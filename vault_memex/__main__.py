"""`python -m vault_memex`."""

from vault_memex.cli import main

if __name__ == "__main__":
    main()
