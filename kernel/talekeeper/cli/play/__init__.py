"""The game that `talekeeper play` runs: what it reads and shows, its turns, and its slash commands."""
