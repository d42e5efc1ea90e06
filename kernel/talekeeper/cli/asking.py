"""Asking before something is gone for good."""

from __future__ import annotations

import click

from talekeeper.errors import InputError


def ask_twice(name: str, holding: str, called: str) -> None:
    """Whether to delete it, and then its `called` (id, name) typed out; raises `InputError` on any other answer."""
    sure = click.confirm(f"Delete {name!r} with {holding}, for good?", err=True)
    if not sure or click.prompt(f"Type its {called} to delete it", err=True) != name:
        raise InputError("nothing was deleted")
