"""Checks what comes into the store: names, compared byte for byte, and records against their namespace's schema."""

from __future__ import annotations

import json
import re
import unicodedata

from talekeeper.db import dumps
from talekeeper.errors import ParameterError
from talekeeper.json_schema import schema_fault
from talekeeper.manifest import Namespace
from talekeeper.text import check_text

_LONGEST = 200
_WORKSPACE = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")
_UNPRINTABLE = {"Cc", "Cf", "Zl", "Zp"}


def check_workspace(name: str) -> str:
    """A workspace is also a folder, on disks that may fold case: lower-case letters, digits, `-` and `_`."""
    if not _WORKSPACE.fullmatch(name):
        raise ParameterError(
            "workspace",
            f"{name!r} cannot name a workspace",
            cure="use up to 63 lower-case letters, digits, '-' and '_', beginning with a letter or digit",
        )
    return name


def check_name(name: str, field: str, *, empty: bool = False) -> str:
    """One line of at most 200 printable characters without blanks around it."""
    check_text(name, field)
    if not name and empty:
        return name
    if not name.strip():
        raise ParameterError(field, "it is empty", cure="give it a name")
    if len(name) > _LONGEST:
        raise ParameterError(field, f"it has {len(name):,} characters, at most {_LONGEST} are taken", cure="shorten it")
    if name != name.strip():
        raise ParameterError(field, f"{name!r} has blanks around it", cure="leave them out")
    if any(unicodedata.category(character) in _UNPRINTABLE for character in name):
        raise ParameterError(field, f"{name!r} holds a character that cannot be seen", cure="leave it out")
    return name


def check_line(text: str, field: str) -> str:
    """Free text for a title: at most 200 characters are kept, line breaks become blanks."""
    return " ".join(check_text(text, field).split())[:_LONGEST]


def check_value(namespace: Namespace, value: object) -> str:
    """The record's canonical JSON; raises `ParameterError` whose field is `plugin/namespace/property`."""
    document = dumps(value, namespace.path)
    plain = json.loads(document)
    if not isinstance(plain, dict):
        raise ParameterError(namespace.path, "a record is a JSON object", cure='write it as {"name": value, …}')
    fault = schema_fault(namespace.schema, plain) if namespace.schema else None
    if fault is not None:
        place = f"{namespace.path}/{fault[0]}".rstrip("/")
        raise ParameterError(place, fault[1], cure=f"see the record schema of {namespace.path}")
    return document
