"""Rebuilds language-model benchmark corpora from their raw sources."""

__version__ = "0.1.0"
