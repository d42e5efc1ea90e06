"""PNG pictures that carry a character card: base64 of its JSON in a text chunk named `ccv3` (V3) or `chara` (V1, V2).

The chunks are walked as they are written (PNG specification, third edition, sections 5 and 11.3.3); the picture itself
is never decoded. What is unpacked is bounded before it is unpacked.
"""

from __future__ import annotations

import base64
import binascii
import struct
import zlib
from collections.abc import Iterator

from talekeeper.api import UserError

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_TEXTS = frozenset({b"tEXt", b"zTXt", b"iTXt"})
_KEYWORDS = (b"ccv3", b"chara")  # V3 wins: such files repeat the card as V2 for older programs
_UNPACKED_LIMIT = 16 * 1024 * 1024  # bytes of base64; the largest public cards have a few hundred KB


def card_in(picture: bytes) -> bytes:
    """The JSON of the card; raises `UserError` with what is wrong with the picture."""
    found: dict[bytes, bytes] = {}
    for kind, start, data in _chunks(picture):
        keyword, _, rest = data.partition(b"\0")
        if kind in _TEXTS and keyword in _KEYWORDS:
            _check_sum(picture, start, kind, data)
            found.setdefault(keyword, _text(kind, rest))
    for keyword in _KEYWORDS:
        if keyword in found:
            return _decoded(found[keyword], keyword.decode())
    message = "the picture carries no character card"
    raise UserError(
        message, cure="pictures lose it when they are edited or sent by a messenger; take the original file"
    )


def _chunks(picture: bytes) -> Iterator[tuple[bytes, int, bytes]]:
    """(type, where it begins, data) up to the end chunk."""
    at = len(SIGNATURE)
    while True:
        if at + 12 > len(picture):
            raise _cut(at)
        length, kind = struct.unpack_from(">I4s", picture, at)
        if length > len(picture) - at - 12:
            raise _cut(at)
        yield kind, at, picture[at + 8 : at + 8 + length]
        if kind == b"IEND":
            return
        at += 12 + length


def _cut(at: int) -> UserError:
    message = f"the picture is cut off: the chunk at byte {at:,} is not all there"
    return UserError(message, cure="take another copy of it")


def _check_sum(picture: bytes, start: int, kind: bytes, data: bytes) -> None:
    (given,) = struct.unpack_from(">I", picture, start + 8 + len(data))
    if zlib.crc32(kind + data) != given:
        message = f"the picture is damaged: the checksum of the chunk at byte {start:,} is wrong"
        raise UserError(message, cure="take another copy of it")


def _text(kind: bytes, rest: bytes) -> bytes:
    """What stands behind the keyword: at once, or behind how it is packed and, in `iTXt`, its language."""
    if kind == b"tEXt":
        return rest
    if kind == b"zTXt":
        return _unpacked(rest[1:])
    text = rest[2:].split(b"\0", 2)[-1]
    return _unpacked(text) if rest[:1] == b"\x01" else text


def _unpacked(data: bytes) -> bytes:
    try:
        text = zlib.decompressobj().decompress(data, _UNPACKED_LIMIT + 1)
    except zlib.error as error:
        message = f"the card in the picture cannot be unpacked ({error})"
        raise UserError(message, cure="take another copy of it") from None
    if len(text) > _UNPACKED_LIMIT:
        message = f"the card in the picture is larger than {_UNPACKED_LIMIT // 1024 // 1024} MiB when it is unpacked"
        raise UserError(message, cure="is it a card?")
    return text


def _decoded(text: bytes, keyword: str) -> bytes:
    try:
        return base64.b64decode(b"".join(text.split()), validate=True)
    except binascii.Error as error:
        message = f"the card in the picture, its text {keyword!r}, is not base64 ({error})"
        raise UserError(message, cure="take another copy of it") from None
