"""What is wrong with a name that breaks its pattern, said by the first thing wrong with it."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from talekeeper.manifest import names
from talekeeper.manifest.codes import contributions, identity
from talekeeper.manifest.diagnostic import Code
from talekeeper.text import quoted, spelled

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
    longest: int = 64


class _Form(NamedTuple):
    """A text of a certain form, said in words."""

    code: Code
    expected: str


_KINDS: Mapping[str, _Name | _Form] = MappingProxyType(
    {
        names.PLUGIN_ID: _Name(identity.PLUGIN_ID, "a plugin id", "letters a–z, digits and hyphens", _SMALL + "-"),
        names.NAMESPACE: _Name(
            contributions.NAMESPACE_NAME, "a namespace name", "letters a–z, digits and underscores", _SMALL + "_"
        ),
        names.SETTING: _Name(
            contributions.SETTING_KEY,
            "a setting's key",
            "letters a–z, digits and underscores",
            _SMALL + "_",
            longest=40,
        ),
        names.TOOL: _Name(
            contributions.TOOL_NAME,
            "a tool name",
            "letters a–z and A–Z, digits, hyphens and underscores",
            _SMALL + string.ascii_uppercase + "-_",
            letter=False,
        ),
        names.LOCAL: _Name(
            contributions.LOCAL_NAME, "this name", "letters a–z, digits, hyphens and underscores", _SMALL + "-_"
        ),
        names.MODULE: _Form(identity.MODULE_NAME, "the name of a Python module inside the package, such as code"),
        names.READ: _Form(contributions.READ_TARGET, "a plugin and its namespace, such as lorebook/entries"),
        names.HOST: _Form(contributions.HOST_PERMISSION, "a host name in small letters, such as api.example.org"),
        names.TIME: _Form(contributions.BAD_TIME, "a time between 00:00 and 23:59, such as 03:30"),
        names.LINE: _Form(contributions.TEXT_SHAPE, "one line without control characters"),
        names.PROSE: _Form(contributions.TEXT_SHAPE, "text without control characters"),
    }
)


def name_fault(pattern: str, key: str, value: str) -> tuple[Code, str, str]:
    """The code, sentence and hint for a value of `key` that breaks one of the patterns of `names`."""
    kind = _KINDS[pattern]
    if isinstance(kind, _Form):
        return kind.code, f"{key} is {quoted(value)}, expected {kind.expected}", ""
    if kind.code is contributions.NAMESPACE_NAME and value.startswith("_"):
        return contributions.KERNEL_NAMESPACE, f"namespace {quoted(value)} begins with an underscore", ""
    meant = _suggestion(kind, value)
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


def _suggestion(kind: _Name, value: str) -> str:
    """The nearest name that holds, or nothing when little of the value would be left."""
    plain = unicodedata.normalize("NFKD", value).translate(_LOOKALIKES)
    plain = plain if "A" in kind.characters else plain.lower()
    joined = re.sub(r"[\s._/-]+", "-" if "-" in kind.characters else "_", plain.strip())
    kept = "".join(it for it in joined if it in kind.characters).strip("-_")[: kind.longest]
    begins_well = not kind.letter or kept[:1].isalpha()
    return kept if begins_well and 2 * len(kept) > len(value) else ""
