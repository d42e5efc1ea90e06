"""What the models are asked, in English or Chinese, with the texts of others framed as data.

The texts are in `english.toml` and `chinese.toml`; stories in other languages get the English with a line about theirs.
`Prompts.fill` fills the places in braces once, so that it never reads a filled-in text as a place.
"""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.resources import files
from typing import Any, Literal

from talekeeper.api import MessageView

Conversation = list[tuple[Literal["system", "user", "assistant"], str]]
"""What a model is sent: roles and texts."""

BREAK = "⏎"
"""Replaces a line break in a text of others."""

_PLACE = re.compile(r"\{([a-z_]+)\}")
_TRADITIONAL = re.compile(r"hant|[-_](?:tw|hk|mo)\b")
_ESCAPED = str.maketrans({"<": r"\u003c", ">": r"\u003e", "&": r"\u0026"})
_QUOTED = str.maketrans("<>", "‹›")
# Separators that JSON leaves as they are and models read as line ends, and characters nobody sees.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
# What joins the letters of Persian and the parts of an emoji is part of the text.
_KEPT = frozenset("\n\t\u200c\u200d")


@dataclass(frozen=True, slots=True)
class Prompts:
    """The texts of one language; `blocks` says by label what belongs into a block.

    `suffix` is the line about the language to write in, empty where it is the prompt's own.
    """

    texts: Mapping[str, str]
    blocks: Mapping[str, str]
    suffix: str = ""

    def fill(self, name: str, **values: object) -> str:
        """The text `name` with its places filled in; the language line comes last."""
        filled = _PLACE.sub(lambda place: str(values.get(place[1], place[0])), self.texts[name])
        return f"{filled}\n{self.suffix}" if self.suffix else filled


def prompts_for(locale: str) -> Prompts:
    """The texts for a session's locale, such as `en`, `zh-Hant` or `de`."""
    lower = locale.casefold() or "en"
    language = re.split("[-_]", lower)[0]
    if language == "zh":
        read = _read("chinese")
        return Prompts(read["texts"], read["blocks"], read["traditional"] if _TRADITIONAL.search(lower) else "")
    read = _read("english")
    suffix = "" if language == "en" else read["language"].replace("{locale}", locale)
    return Prompts(read["texts"], read["blocks"], suffix)


def player_labels() -> tuple[str, ...]:
    """The beginnings of the confirmed line about the player, in every language there is."""
    return tuple(_read(language)["texts"]["player_label"] for language in ("english", "chinese"))


def question(instruction: str, **parts: str) -> Conversation:
    """The instruction, then the data: every part in a tag of its name, all of them in one."""
    inner = "\n".join(f"<{name}>\n{text}\n</{name}>" for name, text in parts.items())
    return [("system", instruction), ("user", f"<data>\n{inner}\n</data>")]


def json_line(value: Mapping[str, object]) -> str:
    """One object in one line, with `<`, `>` and `&` escaped; empty values are left out."""
    filled = {
        key: _clean(item) if isinstance(item, str) else item for key, item in value.items() if item not in ("", None)
    }
    return json.dumps(filled, ensure_ascii=False).translate(_ESCAPED)


def story_lines(messages: Iterable[MessageView]) -> str:
    """Messages with who speaks, one a line."""
    return "\n".join(
        json_line({"speaker": message.speaker or message.role, "text": message.text}) for message in messages
    )


def data_text(text: str) -> str:
    """A text of others on one line inside a tag: it cannot close the tag, open another, or begin like a role."""
    return _clean(text).strip().replace("\n", BREAK).translate(_QUOTED)


def digest(messages: Iterable[MessageView]) -> str:
    """Identifies these messages with these texts: what is made from the same ones is written once."""
    hashed = blake2b(digest_size=16)
    for message in messages:
        hashed.update(f"{message.id}\0{message.text}\0".encode())
    return hashed.hexdigest()


def _clean(text: str) -> str:
    normal = unicodedata.normalize("NFC", text)
    return "".join(letter for letter in normal if letter in _KEPT or unicodedata.category(letter) not in _HIDDEN)


@cache
def _read(language: str) -> Mapping[str, Any]:
    return tomllib.loads(files(__name__).joinpath(f"{language}.toml").read_text(encoding="utf-8"))
