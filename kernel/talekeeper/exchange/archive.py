"""A workspace or session with everything in it as JSON Lines, each line hashed, to be imported again elsewhere."""

from __future__ import annotations

ARCHIVE_KEY = "talekeeper"
"""The key that only the first line of an archive has."""
