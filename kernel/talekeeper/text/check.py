"""What a string must be to be stored, and a short hash of it."""

from __future__ import annotations

import re
from hashlib import blake2b

from talekeeper.errors import ParameterError

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def check_text(value: str, field: str) -> str:
    """Gives `value` back, or raises `ParameterError` naming `field` where it holds NUL or half a surrogate pair.

    No database stores the two alike: SQLite would end some reads at a NUL, PostgreSQL refuses it, and neither takes a
    string that is not UTF-8.
    """
    if found := _UNSTORABLE.search(value):
        what = "a NUL character" if found[0] == "\0" else f"half a surrogate pair, U+{ord(found[0]):04X},"
        raise ParameterError(field, f"holds {what} at character {found.start() + 1}", cure="remove it and send again")
    return value


def digest(text: str) -> int:
    """64 bits of BLAKE2b as a signed integer, the same in every process; takes any string."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), signed=True)
