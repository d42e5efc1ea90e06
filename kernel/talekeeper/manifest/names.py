"""The patterns of the names and texts in a manifest, and what is wrong, in words, with a value that breaks one."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from talekeeper.manifest import codes
from talekeeper.manifest.codes import KEY_LENGTH, NAME_LENGTH, Code
from talekeeper.text import quoted, spelled

_MORE = NAME_LENGTH - 1
PLUGIN_ID = f"^[a-z][a-z0-9-]{{0,{_MORE}}}$"
NAMESPACE = f"^[a-z][a-z0-9_]{{0,{_MORE}}}$"
SETTING = f"^[a-z][a-z0-9_]{{0,{KEY_LENGTH - 1}}}$"
TOOL = f"^[a-zA-Z0-9_-]{{1,{NAME_LENGTH}}}$"
LOCAL = f"^[a-z][a-z0-9_-]{{0,{_MORE}}}$"
MODULE = "^[A-Za-z_][A-Za-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)*$"
READ = f"^[a-z][a-z0-9-]{{0,{_MORE}}}/[a-z][a-z0-9_]{{0,{_MORE}}}$"
HOST = "^[a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:[0-9]{1,5})?$"
TIME = "^([01][0-9]|2[0-3]):[0-5][0-9]$"
LINE = "^[^\\u0000-\\u001f\\u007f\\u0085\\u2028\\u2029]*$"
PROSE = "^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f]*$"


def tool_key(name: str) -> str:
    """What tool names are compared by: endpoints fold case or turn hyphens into underscores, so these make one name."""
    return name.casefold().replace("_", "-")


# Letters of other alphabets that pass for a Latin one, Cyrillic then Greek; only used to say what was meant.
_LOOKALIKES = str.maketrans("аеорсхуіјѕһԁԛԝ" + "οαινρτυκ", "aeopcxyijshdqw" + "oaivptuk")
_SMALL = string.ascii_lowercase + string.digits


class _Name(NamedTuple):
    """A name made of certain characters, in words and one by one; `letter`: it begins with a–z."""

    code: Code
    what: str
    words: str
    characters: str
    letter: bool = True
    longest: int = NAME_LENGTH


class _Form(NamedTuple):
    """A text of a certain form, in words."""

    code: Code
    expected: str


_KINDS: Mapping[str, _Name | _Form] = MappingProxyType(
    {
        PLUGIN_ID: _Name(codes.PLUGIN_ID, "a plugin id", "letters a–z, digits and hyphens", _SMALL + "-"),
        NAMESPACE: _Name(codes.NAMESPACE_NAME, "a namespace name", "letters a–z, digits and underscores", _SMALL + "_"),
        SETTING: _Name(
            codes.SETTING_KEY,
            "a setting's key",
            "letters a–z, digits and underscores",
            _SMALL + "_",
            longest=KEY_LENGTH,
        ),
        TOOL: _Name(
            codes.TOOL_NAME,
            "a tool name",
            "letters a–z and A–Z, digits, hyphens and underscores",
            _SMALL + string.ascii_uppercase + "-_",
            letter=False,
        ),
        LOCAL: _Name(codes.LOCAL_NAME, "this name", "letters a–z, digits, hyphens and underscores", _SMALL + "-_"),
        MODULE: _Form(codes.MODULE_NAME, "the name of a Python module inside the package, such as code"),
        READ: _Form(codes.READ_TARGET, "a plugin and its namespace, such as lorebook/entries"),
        HOST: _Form(codes.HOST_PERMISSION, "a host name in small letters, such as api.example.org"),
        TIME: _Form(codes.BAD_TIME, "a time between 00:00 and 23:59, such as 03:30"),
        LINE: _Form(codes.TEXT_SHAPE, "one line without control characters"),
        PROSE: _Form(codes.TEXT_SHAPE, "text without control characters"),
    }
)


def name_fault(pattern: str, key: str, value: str) -> tuple[Code, str, str]:
    """The code, sentence and hint for a value of `key` that breaks one of the patterns above."""
    kind = _KINDS[pattern]
    if isinstance(kind, _Form):
        return kind.code, f"{key} is {quoted(value)}, expected {kind.expected}", ""
    if kind.code is codes.NAMESPACE_NAME and value.startswith("_"):
        return codes.KERNEL_NAMESPACE, f"namespace {quoted(value)} begins with an underscore", ""
    meant = _mended(kind, value)
    return kind.code, f"{quoted(value)}: {_fault(kind, value)}", f'did you mean "{meant}"?' if meant else ""


def _fault(kind: _Name, value: str) -> str:
    if not value:
        return f"{kind.what} is empty"
    strange = next((it for it in value if it not in kind.characters), "")
    if strange:
        return f"{kind.what} has {spelled(strange)}; it may have {kind.words}"
    if len(value) > kind.longest:
        return f"{kind.what} has {len(value)} characters, at most {kind.longest} are allowed"
    return f"{kind.what} begins with {spelled(value[0])}, not with a letter a–z"


def _mended(kind: _Name, value: str) -> str:
    """The nearest name that holds, or nothing when little of the value would be left."""
    plain = unicodedata.normalize("NFKD", value).translate(_LOOKALIKES)
    plain = plain if "A" in kind.characters else plain.lower()
    joined = re.sub(r"[\s._/-]+", "-" if "-" in kind.characters else "_", plain.strip())
    kept = "".join(it for it in joined if it in kind.characters).strip("-_")[: kind.longest]
    begins_well = not kind.letter or kept[:1].isalpha()
    return kept if begins_well and 2 * len(kept) > len(value) else ""
