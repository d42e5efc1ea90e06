"""The kinds of names and texts a manifest has: each a constrained text, with a sentence for people who break it.

A value that breaks its pattern is explained by the first thing wrong with it, never by the pattern.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated

from pydantic import Field

from talekeeper.manifest.codes import contributions, identity
from talekeeper.manifest.diagnostic import Code

_ID = "^[a-z][a-z0-9-]{0,63}$"
_NAMESPACE = "^[a-z][a-z0-9_]{0,63}$"
_SETTING = "^[a-z][a-z0-9_]{0,39}$"
_TOOL = "^[a-zA-Z0-9_-]{1,64}$"
_LOCAL = "^[a-z][a-z0-9_-]{0,63}$"
_MODULE = "^[A-Za-z_][A-Za-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)*$"
_READ = "^[a-z][a-z0-9-]{0,63}/[a-z][a-z0-9_]{0,63}$"
_HOST = "^[a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:[0-9]{1,5})?$"
_TIME = "^([01][0-9]|2[0-3]):[0-5][0-9]$"
_LINE = "^[^\\u0000-\\u001f\\u007f\\u0085\\u2028\\u2029]*$"
_PROSE = "^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f]*$"

PluginId = Annotated[str, Field(pattern=_ID)]
NamespaceName = Annotated[str, Field(pattern=_NAMESPACE)]
SettingKey = Annotated[str, Field(pattern=_SETTING)]
ToolName = Annotated[str, Field(pattern=_TOOL)]
LocalName = Annotated[str, Field(pattern=_LOCAL)]
ModuleName = Annotated[str, Field(pattern=_MODULE, max_length=200)]
ReadTarget = Annotated[str, Field(pattern=_READ)]
HostName = Annotated[str, Field(pattern=_HOST, max_length=259)]
TimeOfDay = Annotated[str, Field(pattern=_TIME)]
Line = Annotated[str, Field(min_length=1, max_length=120, pattern=_LINE)]
Prose = Annotated[str, Field(min_length=1, max_length=2000, pattern=_PROSE)]
FilePath = Annotated[str, Field(min_length=1, max_length=255, pattern=_LINE)]


# Letters of other alphabets that pass for a Latin one, Cyrillic then Greek; only used to say what was meant.
_LOOKALIKES = str.maketrans("аеорсхуіјѕһԁԛԝ" + "οαινρτυκ", "aeopcxyijshdqw" + "oaivptuk")
_LAST_OF_PLANE_0 = 0xFFFF


@dataclass(frozen=True, slots=True)
class _Name:
    """A name made of certain characters: which ones, in words and as a class; `first` is what it may begin with."""

    code: Code
    what: str
    characters: str
    allowed: re.Pattern[str]
    first: re.Pattern[str] | None
    longest: int = 64

    def fault(self, value: str) -> str:
        if not value:
            return f"{self.what} is empty"
        strange = next((it for it in value if not self.allowed.match(it)), "")
        if strange:
            return f"{self.what} has {spelled(strange)}; it may have {self.characters}"
        if self.first and not self.first.match(value):
            return f"{self.what} begins with {spelled(value[0])}, not with a letter a–z"
        return f"{self.what} has {len(value)} characters, at most {self.longest} are allowed"

    def suggestion(self, value: str) -> str:
        """The nearest name that holds, or nothing when little of the value would be left."""
        plain = unicodedata.normalize("NFKD", value).translate(_LOOKALIKES)
        plain = plain if self.allowed.match("A") else plain.lower()
        joined = re.sub(r"[\s._/-]+", "-" if self.allowed.match("-") else "_", plain.strip())
        kept = "".join(it for it in joined if self.allowed.match(it)).strip("-_")[: self.longest]
        fits = kept and (self.first is None or self.first.match(kept)) and 2 * len(kept) > len(value)
        return kept if fits else ""


@dataclass(frozen=True, slots=True)
class _Form:
    """A text of a certain form, said in words."""

    code: Code
    expected: str


def _name(code: Code, what: str, characters: str, allowed: str, *, letter: bool = True, longest: int = 64) -> _Name:
    return _Name(code, what, characters, re.compile(f"[{allowed}]"), re.compile("[a-z]") if letter else None, longest)


_KINDS = MappingProxyType(
    {
        _ID: _name(identity.PLUGIN_ID, "a plugin id", "letters a–z, digits and hyphens", "a-z0-9-"),
        _NAMESPACE: _name(
            contributions.NAMESPACE_NAME, "a namespace name", "letters a–z, digits and underscores", "a-z0-9_"
        ),
        _SETTING: _name(
            contributions.SETTING_KEY, "a setting's key", "letters a–z, digits and underscores", "a-z0-9_", longest=40
        ),
        _TOOL: _name(
            contributions.TOOL_NAME,
            "a tool name",
            "letters a–z and A–Z, digits, hyphens and underscores",
            "a-zA-Z0-9_-",
            letter=False,
        ),
        _LOCAL: _name(
            contributions.LOCAL_NAME, "this name", "letters a–z, digits, hyphens and underscores", "a-z0-9_-"
        ),
        _MODULE: _Form(identity.MODULE_NAME, "the name of a Python module inside the package, such as code"),
        _READ: _Form(contributions.READ_TARGET, "a plugin and its namespace, such as memory/facts"),
        _HOST: _Form(contributions.HOST_PERMISSION, "a host name in small letters, such as api.example.org"),
        _TIME: _Form(contributions.BAD_TIME, "a time between 00:00 and 23:59, such as 03:30"),
        _LINE: _Form(contributions.TEXT_SHAPE, "one line without control characters"),
        _PROSE: _Form(contributions.TEXT_SHAPE, "text without control characters"),
    }
)


def misfit(pattern: str, key: str, value: str) -> tuple[Code, str, str]:
    """The code, sentence and hint for a value that breaks one of the patterns above."""
    kind = _KINDS[pattern]
    if isinstance(kind, _Form):
        return kind.code, f"{key} is {quoted(value)}, expected {kind.expected}", ""
    if kind.code is contributions.NAMESPACE_NAME and value.startswith("_"):
        return contributions.KERNEL_NAMESPACE, f"namespace {quoted(value)} begins with an underscore", ""
    suggestion = kind.suggestion(value)
    return kind.code, f"{quoted(value)}: {kind.fault(value)}", f'did you mean "{suggestion}"?' if suggestion else ""


def quoted(value: object, limit: int = 60) -> str:
    """A value as a person may be shown it: shortened, with every invisible character escaped."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (dict, list)):
        return "a table" if isinstance(value, dict) else "a list"
    if not isinstance(value, str):
        return visible(str(value))[:limit]
    short = value if len(value) <= limit else value[: limit - 1] + "…"
    return f'"{visible(short)}"'


def visible(text: str) -> str:
    """The text with control, format and separator characters written as escapes, so that none acts on a terminal."""
    return "".join(it if it == " " or unicodedata.category(it)[0] not in "CZ" else _escaped(it) for it in text)


def spelled(character: str) -> str:
    """A character with its Unicode name when it is not plain ASCII: `"а" (CYRILLIC SMALL LETTER A)`."""
    if character == " ":
        return "a space"
    if character.isascii() and character.isprintable():
        return f'"{character}"'
    name = unicodedata.name(character, f"U+{ord(character):04X}")
    return f'"{visible(character)}" ({name})'


def _escaped(character: str) -> str:
    point = ord(character)
    return f"\\u{point:04x}" if point <= _LAST_OF_PLANE_0 else f"\\U{point:08x}"
