"""The records of plugins: their versions at coordinates, and what becomes of them when their source changes."""
