"""Asking before something is gone for good."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import click

from talekeeper.cli.terminal import remark
from talekeeper.errors import InputError

_T = TypeVar("_T")


def ask_twice(name: str, holding: str, called: str) -> None:
    """Whether to delete it, and then its `called` (id, name) typed out; raises `InputError` on any other answer."""
    sure = _answer(lambda: click.confirm(f"Delete {name!r} with {holding}, for good?", err=True), "deleted")
    if not sure or _answer(lambda: click.prompt(f"Type its {called} to delete it", err=True), "deleted") != name:
        raise InputError("nothing was deleted")


def ask_once(question: str, done: str) -> None:
    """Raises `InputError`, saying that nothing was `done`, unless the answer is yes."""
    if not _answer(lambda: click.confirm(question, err=True), done):
        raise InputError(f"nothing was {done}")


def _answer(ask: Callable[[], _T], done: str) -> _T:
    try:
        return ask()
    except click.Abort as end:
        # Click tells the end of the input and Ctrl-C alike; only what it caught tells them apart.
        if not isinstance(end.__context__, EOFError):
            raise
        remark("")
        cure = "--yes does it without asking"
        raise InputError(f"nobody answered, so nothing was {done}", cure=cure) from end
