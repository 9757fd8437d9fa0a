"""An AI assistant's long-term memory that is the person's own Markdown vault."""

__version__ = "0.1.0"
