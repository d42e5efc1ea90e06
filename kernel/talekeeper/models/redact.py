"""Takes keys out of texts that came from outside, before anybody sees or stores them."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from urllib.parse import quote

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

    def told(self, text: str) -> str:
        """One printable line, at most 300 characters, of what an endpoint said: no key, no part of one, no token."""
        text = self.mask(text)
        for secret in self._secrets:
            text = _without_pieces(text, secret)
        text = _LIKE_A_KEY.sub(lambda found: (found["scheme"] or "") + MASK, text)
        line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
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
