"""What the models are told, in English or Chinese; stories in other languages get the English with a line about theirs.

The texts are in `english.toml` and `chinese.toml`. They have places in braces; `Prompts.fill` fills them once, so that
what is filled in is never read as a place itself.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

Said = list[tuple[Literal["system", "user", "assistant"], str]]
"""A question to a model."""

_PLACE = re.compile(r"\{([a-z_]+)\}")
_TRADITIONAL = re.compile(r"hant|[-_](?:tw|hk|mo)\b")


@dataclass(frozen=True, slots=True)
class Prompts:
    """The texts of one language; `blocks` says by label what belongs into a block.

    `suffix` is the line about the language to write in, empty where it is the prompt's own.
    """

    texts: Mapping[str, str]
    blocks: Mapping[str, str]
    suffix: str = ""

    def fill(self, name: str, **values: object) -> str:
        """The text `name` with its places filled in; the language line stands at its end."""
        filled = _PLACE.sub(lambda place: str(values.get(place[1], place[0])), self.texts[name])
        return f"{filled}\n{self.suffix}" if self.suffix else filled

    def word(self, name: str) -> str:
        """A label as it stands in a prompt or block."""
        return self.texts[name]


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
    """What the confirmed line about the player begins with, in every language there is."""
    return tuple(_read(language)["texts"]["player_label"] for language in ("english", "chinese"))


def question(told: str, **parts: str) -> Said:
    """What the model is told, and what it is about: every part in a tag of its name, all of them in one."""
    inner = "\n".join(f"<{name}>\n{text}\n</{name}>" for name, text in parts.items())
    return [("system", told), ("user", f"<data>\n{inner}\n</data>")]


@cache
def _read(language: str) -> Mapping[str, Any]:
    return tomllib.loads(files(__name__).joinpath(f"{language}.toml").read_text(encoding="utf-8"))
