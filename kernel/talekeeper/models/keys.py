"""Keys of endpoints: where one is read from, and a wrapper that never shows it.

A configuration holds the place, not the key. It is read when a call is made, so that a new key needs no restart.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, Protocol

from talekeeper.errors import AuthFailed

_FILE_LIMIT = 4096
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class Secret:
    """A key in memory. Only `reveal` gives it; printing, formatting, copying and pickling do not."""

    __slots__ = ("_place", "_value")

    def __init__(self, value: str, place: str) -> None:
        self._value = value
        self._place = place

    def reveal(self) -> str:
        """The key itself, for the header and for taking it out of texts."""
        return self._value

    def __repr__(self) -> str:
        return f"<key from {self._place}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError("a key is not copied or stored")


class KeySource(Protocol):
    """A place a key is read from; its text names the place."""

    def read(self) -> Secret:
        """The key; raises `AuthFailed` saying what is wrong with the place."""
        ...


@dataclass(frozen=True, slots=True)
class EnvironmentKey:
    """The environment variable `name`; `environ` stands in for the process's own in tests."""

    name: str
    environ: Mapping[str, str] | None = None

    def read(self) -> Secret:
        """The variable's value; raises `AuthFailed` when it is not set or cannot be a key."""
        value = (os.environ if self.environ is None else self.environ).get(self.name, "")
        if not value.strip():
            raise AuthFailed("the variable is not set", where=str(self), cure="set it and start again")
        return _secret(value, str(self))

    def __repr__(self) -> str:
        # `environ` has every other variable too.
        return f"EnvironmentKey(name={self.name!r})"

    def __str__(self) -> str:
        return f"environment variable {self.name}"


@dataclass(frozen=True, slots=True)
class FileKey:
    """A file with the key and nothing else, which only its owner may read."""

    path: Path

    def read(self) -> Secret:
        """The file's text; raises `AuthFailed` when others may read it, it is no plain file, or it holds no key."""
        try:
            raw = self._bytes()
        except OSError as error:
            fault = AuthFailed(
                f"the file cannot be read ({error.strerror})", where=str(self), cure="check its path and rights"
            )
        else:
            return _secret(raw.decode(errors="replace"), str(self))
        raise fault

    def __str__(self) -> str:
        return f"key file {self.path}"

    def _bytes(self) -> bytes:
        # Without O_NONBLOCK the opening of a FIFO would wait for a writer.
        handle = os.open(self.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            facts = os.fstat(handle)
            if not stat.S_ISREG(facts.st_mode):
                raise AuthFailed("this is no file", where=str(self))
            if os.name == "posix" and facts.st_mode & _OTHERS:
                raise AuthFailed("others may read the file", where=str(self), cure=f"run: chmod 600 {self.path}")
            return os.read(handle, _FILE_LIMIT + 1)
        finally:
            os.close(handle)


def _secret(raw: str, place: str) -> Secret:
    """A line break or a character outside ASCII would end up in the request's header."""
    value = raw.strip()
    if not value or len(value) > _FILE_LIMIT or not value.isascii() or not value.isprintable() or " " in value:
        raise AuthFailed("what stands there cannot be a key", where=place, cure="put the key there and nothing else")
    return Secret(value, place)
