"""What a job is made from: texts of others as data in a prompt, one line an item that cannot close its frame."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Mapping
from hashlib import blake2b

from talekeeper.api import MessageView

BREAK = "⏎"
"""What stands for a line break in a text of others."""

_ESCAPED = str.maketrans({"<": r"\u003c", ">": r"\u003e", "&": r"\u0026"})
_QUOTED = str.maketrans("<>", "‹›")
# Separators that JSON leaves as they are and models read as line ends, and characters nobody sees.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# What joins the letters of Persian and the parts of an emoji is part of the text.
_JOINERS = frozenset("\u200c\u200d")


def json_line(value: Mapping[str, object]) -> str:
    """One object in one line, without `<`, `>` and `&` as such; empty values are left out."""
    said = {
        key: _clean(item) if isinstance(item, str) else item for key, item in value.items() if item not in ("", None)
    }
    return json.dumps(said, ensure_ascii=False).translate(_ESCAPED)


def story_lines(messages: Iterable[MessageView]) -> str:
    """Messages with who speaks, one a line."""
    return "\n".join(
        json_line({"speaker": message.speaker or message.role, "text": message.text}) for message in messages
    )


def digest(messages: Iterable[MessageView]) -> str:
    """Tells these messages with these texts from all others: what is made from the same is written once."""
    hashed = blake2b(digest_size=16)
    for message in messages:
        hashed.update(f"{message.id}\0{message.text}\0".encode())
    return hashed.hexdigest()


def data_text(text: str) -> str:
    """A text of others on one line inside a tag: it cannot close the tag, open another, or begin like a role."""
    return _clean(text).strip().replace("\n", BREAK).translate(_QUOTED)


def _clean(text: str) -> str:
    normal = unicodedata.normalize("NFC", text)
    return "".join(
        letter
        for letter in normal
        if letter in "\n\t" or letter in _JOINERS or unicodedata.category(letter) not in _HIDDEN
    )
