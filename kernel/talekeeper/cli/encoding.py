"""What stdout can carry: JSON that stays JSON in any encoding, and bytes for files, which are always UTF-8."""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Callable


def json_text(value: object, default: Callable[[object], object] | None = None, *, indent: int | None = 2) -> str:
    """One JSON document, on one line without an `indent`.

    Where stdout is not UTF-8 it is ASCII: an escape of the terminal's would be none of JSON's.
    """
    return json.dumps(value, ensure_ascii=not _is_utf8(), indent=indent, default=default)


def write_utf8(text: str) -> None:
    """Writes to stdout what is the content of a file, whatever encoding the terminal has."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8"))


def _is_utf8() -> bool:
    try:
        return codecs.lookup(sys.stdout.encoding or "ascii").name == "utf-8"
    except LookupError:
        return False
