"""What Markdown says: pure values and functions, no disk, clock or database."""
