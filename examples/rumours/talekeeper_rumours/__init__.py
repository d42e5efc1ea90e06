"""Rumours of a story; `plugin.toml` says what there is, `register` which function does it."""
