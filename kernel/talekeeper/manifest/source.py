"""Bytes of a manifest → parsed data with the place of every key, or the reason why not.

Size, encoding and nesting are checked before the parser sees the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import tomli

from talekeeper.manifest.codes import file as codes
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.json_text import depth, not_json
from talekeeper.manifest.positions import Path, Places, Span
from talekeeper.manifest.table import is_array, is_table

SIZE_LIMIT = 64 * 1024
DEPTH_LIMIT = 16
_KEY_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
# Strings and comments come first, so that brackets and dots within them do not count.
_NESTING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|'
    r"'''.*?'{3,5}|"
    rf"(?P<chain>{_KEY_PART}(?:[ \t]*\.[ \t]*{_KEY_PART}){{{DEPTH_LIMIT},}})|"
    r'"(?:[^"\\\n]|\\.)*"|'
    r"'[^'\n]*'|"
    r"\#[^\n]*|"
    r"[A-Za-z0-9_-]+|"
    r"(?P<open>[\[{])|(?P<close>[\]}])",
    re.DOTALL,
)


_ABOUT = MappingProxyType(
    {
        "Cannot overwrite a value": "a key of this line stands in the same table before",
        "Cannot declare": "a table of this name has been opened before",
        "Duplicate inline table key": "a key of this line stands in the same table before",
    }
)


class Source(NamedTuple):
    """A parsed manifest. `data` is None when the text could not be parsed; `text` is there for excerpts."""

    data: Mapping[str, Any] | None
    places: Places
    findings: tuple[Finding, ...]
    text: str


def parse(raw: bytes, limit: int = SIZE_LIMIT) -> Source:
    """Never raises: what is wrong with the bytes, of which there may be `limit`, is in the findings."""
    if len(raw) > limit:
        message = f"the file has more than {limit:,} bytes"
        return _refused(Finding(codes.TOO_LARGE, (), message, span=Span(0, 0, 0)))
    text, encoding = _decode(raw)
    if encoding:
        return _refused(encoding, text)
    return _refuse_depth(text) or _parse_text(text)


def _refused(finding: Finding, text: str = "") -> Source:
    return Source(None, Places(), (finding,), text)


def _decode(raw: bytes) -> tuple[str, Finding | None]:
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode()
        message = f"byte 0x{raw[error.start]:02x} is not UTF-8"
        hint = "the file looks like UTF-16; save it as UTF-8" if raw[:2] in {b"\xff\xfe", b"\xfe\xff"} else ""
        return raw.decode(errors="replace"), Finding(codes.NOT_UTF8, (), message, hint, span=_at(before, len(before)))
    if text.startswith("\ufeff"):
        message = "the file begins with a byte order mark"
        return text[1:], Finding(
            codes.BYTE_ORDER_MARK, (), message, 'save it as "UTF-8" without BOM', span=Span(1, 1, 2)
        )
    return text.replace("\r\n", "\n"), None


def _refuse_depth(text: str) -> Source | None:
    depth = 0
    for match in _NESTING.finditer(text):
        if match["open"]:
            depth += 1
        elif match["close"]:
            depth = max(0, depth - 1)
        if depth > DEPTH_LIMIT or match["chain"]:
            return _refused(_too_deep(_at(text, match.start())), text)
    return None


def _too_deep(span: Span) -> Finding:
    return Finding(codes.TOO_DEEP, (), f"nested more than {DEPTH_LIMIT} levels deep from here on", span=span)


def _parse_text(text: str) -> Source:
    try:
        data = tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        return _refused(_syntax(error, text), text)
    except ValueError:
        # Python refuses to convert a number of more than 4,300 digits; tomli lets that error through.
        return _refused(_endless_number(text), text)
    places = Places(text)
    # Tables that only the dots of headers and keys open; to be as deep as a path, the data has to be nested so.
    deepest = max(places.keys, key=len, default=()) if depth(data) > DEPTH_LIMIT else ()
    if len(deepest) > DEPTH_LIMIT:
        return _refused(_too_deep(places.span(deepest, "key")), text)
    return Source(data, places, tuple(_not_json(data, ())), text)


def _syntax(error: tomli.TOMLDecodeError, text: str) -> Finding:
    message = error.msg[:1].lower() + error.msg[1:]
    said = next((hint for start, hint in _ABOUT.items() if error.msg.startswith(start)), "")
    return Finding(codes.SYNTAX, (), message, said or _syntax_hint(text, error.pos), span=_at(text, error.pos))


def _syntax_hint(text: str, position: int) -> str:
    word = re.compile(r"[^\s,\]}#=]*").match(text, position)
    found = word.group() if word else ""
    if found.lower() in {"true", "false"}:
        return f"TOML writes {found.lower()}"
    if found.lower() in {"null", "none", "nil"}:
        return "TOML has no null; leave the key out"
    if re.search(r"=[ \t]*$", text[:position]) and re.match(r"[^\W\d]", found):
        return f'text needs quotes: "{found}"'
    return ""


def _endless_number(text: str) -> Finding:
    digits = re.search(r"[0-9_]{4300,}", text)
    return Finding(
        codes.NOT_JSON, (), "a number has thousands of digits", span=_at(text, digits.start() if digits else 0)
    )


def _not_json(value: Any, path: Path) -> Iterator[Finding]:
    if path == ("x",):
        return
    if is_table(value):
        for key, item in value.items():
            yield from _not_json(item, (*path, key))
    elif is_array(value):
        for index, item in enumerate(value):
            yield from _not_json(item, (*path, index))
    elif reason := not_json(value):
        yield Finding(codes.NOT_JSON, path, reason)


def _at(text: str, offset: int) -> Span:
    line_start = text.rfind("\n", 0, offset) + 1
    column = offset - line_start + 1
    return Span(text.count("\n", 0, offset) + 1, column, column + 1)
