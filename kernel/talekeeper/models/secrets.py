"""Keys of endpoints: where one is read from, a wrapper that never shows it, and their masking in texts from outside.

A configuration holds the place, not the key. It is read when a call is made, so that a new key needs no restart.
"""

from __future__ import annotations

import base64
import json
import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn
from urllib.parse import quote

from talekeeper.errors import AuthFailed
from talekeeper.text import terminal_line

_FILE_LIMIT = 4096
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
MASK = "[redacted]"
SHORTEST_SECRET = 8
"""Shorter keys are placeholders for endpoints that want none, and words of a story as well."""

_PIECE = 12
_SHOWN = 300

# A scheme with its credential; a key by its usual beginning, masked forms such as sk-ab***yz included; a long run of
# letters and digits, which names of models and plain words are not.
_LIKE_A_KEY = re.compile(
    r"(?P<scheme>\b(?:bearer|basic)\s+)\S+"
    r"|\b(?:sk|pk|rk|hf|gsk|xai)[-_][\w*.-]{6,}"
    r"|\b(?=\w{0,200}\d)(?=\w{0,200}[A-Za-z])\w{20,}",
    re.IGNORECASE | re.ASCII,
)


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


KeySource = EnvironmentKey | FileKey
"""Where a key is read from when a call is made; its text names the place."""


def _secret(raw: str, place: str) -> Secret:
    """A line break or a character outside ASCII would end up in the request's header."""
    value = raw.strip()
    if not value or len(value) > _FILE_LIMIT or not value.isascii() or not value.isprintable() or " " in value:
        raise AuthFailed("its text cannot be a key", where=place, cure="put the key there and nothing else")
    return Secret(value, place)


class Redactor:
    """Knows the keys in use. Those shorter than 8 characters are left: they are no secrets and would hit words."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._secrets = tuple(secret for secret in secrets if len(secret) >= SHORTEST_SECRET)
        self.forms = tuple(sorted({form for it in self._secrets for form in _forms(it)}, key=len, reverse=True))

    def __repr__(self) -> str:
        return f"Redactor({len(self._secrets)} keys)"

    def mask(self, text: str) -> str:
        """The text without the keys, as they are or in their usual encodings; nothing else is touched."""
        for form in self.forms:
            text = text.replace(form, MASK)
        return text

    def line(self, text: str) -> str:
        """One printable line, at most 300 characters, of what an endpoint said: no key, no part of one, no token."""
        text = self.mask(text)
        for secret in self._secrets:
            text = _without_pieces(text, secret)
        text = _LIKE_A_KEY.sub(lambda found: (found["scheme"] or "") + MASK, text)
        line = terminal_line(text)
        return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"


class StreamMask:
    """Masks keys in a text that arrives in pieces: holds back an end that may be the beginning of a key."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""

    def feed(self, piece: str) -> str:
        """What may be shown by now."""
        text = self._redactor.mask(self._held + piece)
        safe = len(text) - self._doubtful(text)
        self._held = text[safe:]
        return text[:safe]

    def end(self) -> str:
        """What was held back and turned out to be no key."""
        held, self._held = self._held, ""
        return held

    def _doubtful(self, text: str) -> int:
        """Characters at the end with which one of the forms begins."""
        longest = 0
        for form in self._redactor.forms:
            reach = min(len(form) - 1, len(text))
            longest = max(longest, next((size for size in range(reach, 0, -1) if text.endswith(form[:size])), 0))
        return longest


def _forms(secret: str) -> tuple[str, ...]:
    """A key as it is, in JSON, in a URL, and in base 64 without the padding."""
    coded = base64.b64encode(secret.encode()).decode().rstrip("=")
    return secret, json.dumps(secret)[1:-1], quote(secret, safe=""), coded


def _without_pieces(text: str, secret: str) -> str:
    """Masks every stretch of the text that has 12 or more characters in a row from the secret."""
    spoilt = bytearray(len(text))
    for start in range(len(secret) - _PIECE + 1):
        piece = secret[start : start + _PIECE]
        at = text.find(piece)
        while at >= 0:
            spoilt[at : at + _PIECE] = b"\1" * _PIECE
            at = text.find(piece, at + 1)
    if not any(spoilt):
        return text
    kept = "".join("\0" if bad else letter for bad, letter in zip(spoilt, text, strict=True))
    return re.sub("\0+", MASK, kept)
