"""Bytes of a TOML file → parsed data with the place of every key, or what is wrong with the bytes.

Size, encoding and nesting are checked before the parser sees the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from talekeeper.config.positions import KeyPath, Places, Span
from talekeeper.errors import InputError
from talekeeper.text import is_array, is_table, json_depth, json_fault

TOML_DEPTH = 16
FILE_LIMIT = 1024 * 1024
"""Bytes of a file that people write by hand."""

_KEY_PART = r"""(?:[A-Za-z0-9_-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
# Strings and comments come first, so that brackets and dots within them do not count.
_NESTING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|'
    r"'''.*?'{3,5}|"
    rf"(?P<chain>{_KEY_PART}(?:[ \t]*\.[ \t]*{_KEY_PART}){{{TOML_DEPTH},}})|"
    r'"(?:[^"\\\n]|\\.)*"|'
    r"'[^'\n]*'|"
    r"\#[^\n]*|"
    r"[A-Za-z0-9_-]+|"
    r"(?P<open>[\[{])|(?P<close>[\]}])",
    re.DOTALL,
)
_HINTS = MappingProxyType(
    {
        "Cannot overwrite a value": "a key of this line stands in the same table before",
        "Cannot declare": "a table of this name has been opened before",
        "Duplicate inline table key": "a key of this line stands in the same table before",
    }
)

FaultKind = Literal["too-large", "not-utf8", "byte-order-mark", "too-deep", "syntax", "not-json"]


class Fault(NamedTuple):
    """Why the bytes cannot be used, or for `not-json` the value at `path`. Line 0 of the span means the whole file."""

    kind: FaultKind
    message: str
    hint: str = ""
    path: KeyPath = ()
    span: Span | None = None


class Document(NamedTuple):
    """A parsed file. `data` is None when the text could not be parsed; `text` is there for excerpts."""

    data: Mapping[str, Any] | None
    places: Places
    faults: tuple[Fault, ...]
    text: str


def parse(raw: bytes, limit: int = FILE_LIMIT, *, free: KeyPath = ()) -> Document:
    """Never raises: what is wrong with the bytes, of which there may be `limit`, is in the faults.

    Values that JSON does not have are faults too, but for those under the path `free`.
    """
    if len(raw) > limit:
        return _refused(Fault("too-large", f"the file has more than {limit:,} bytes", span=Span(0, 0, 0)))
    text, fault = _decode(raw)
    if fault:
        return _refused(fault, text)
    return _refuse_depth(text) or _parse_text(text, free)


def read_toml(path: Path, what: str, *, any_value: bool = False) -> Document:
    """Reads a file that people write by hand; a byte order mark is skipped.

    With `any_value` the caller checks values: those that JSON does not have are let through.
    Raises InputError, in which the file is called `what`; FileNotFoundError where there is none. The text of the file
    is in no message: it may hold a secret.
    """
    if path.exists() and not path.is_file():  # opening a pipe may wait for ever
        raise InputError("this is no file", where=str(path), cure="move it away")
    try:
        with path.open("rb") as file:
            raw = file.read(FILE_LIMIT + 4)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InputError(f"{what} cannot be read ({error.strerror})", where=str(path)) from error
    document = parse(raw.removeprefix(b"\xef\xbb\xbf"))
    for fault in () if any_value and document.data is not None else document.faults:
        raise _as_error(fault, document, path, what)
    return document


def _as_error(fault: Fault, document: Document, path: Path, what: str) -> InputError:
    span = fault.span or document.places.span(fault.path, "value")
    where = f"{path}:{span.line}:{span.column}" if span.line else str(path)
    match fault.kind:
        case "too-large":
            return InputError(f"{what} has more than a mebibyte", where=where, cure="shorten it")
        case "not-utf8":
            return InputError(f"{what} is not UTF-8", where=where, cure="save it as UTF-8")
        case "syntax":
            return InputError(f"{what} is not TOML", where=where, cure="mend this line")
        case _:
            return InputError(f"{what}: {fault.message}", where=where, cure=fault.hint)


def _refused(fault: Fault, text: str = "") -> Document:
    return Document(None, Places(), (fault,), text)


def _decode(raw: bytes) -> tuple[str, Fault | None]:
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode()
        message = f"byte 0x{raw[error.start]:02x} is not UTF-8"
        hint = "the file looks like UTF-16; save it as UTF-8" if raw[:2] in {b"\xff\xfe", b"\xfe\xff"} else ""
        return raw.decode(errors="replace"), Fault("not-utf8", message, hint, span=_at(before, len(before)))
    if text.startswith("\ufeff"):
        message, hint = "the file begins with a byte order mark", 'save it as "UTF-8" without BOM'
        return text[1:], Fault("byte-order-mark", message, hint, span=Span(1, 1, 2))
    return text.replace("\r\n", "\n"), None


def _refuse_depth(text: str) -> Document | None:
    levels = 0
    for match in _NESTING.finditer(text):
        if match["open"]:
            levels += 1
        elif match["close"]:
            levels = max(0, levels - 1)
        if levels > TOML_DEPTH or match["chain"]:
            return _refused(_too_deep(_at(text, match.start())), text)
    return None


def _too_deep(span: Span) -> Fault:
    return Fault("too-deep", f"nested more than {TOML_DEPTH} levels deep from here on", span=span)


def _parse_text(text: str, free: KeyPath) -> Document:
    import tomli  # noqa: PLC0415 - a command that reads no file does not need it

    try:
        data = tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        message = error.msg[:1].lower() + error.msg[1:]
        hint = next((hint for start, hint in _HINTS.items() if error.msg.startswith(start)), "")
        hint = hint or _syntax_hint(text, error.pos)
        return _refused(Fault("syntax", message, hint, span=_at(text, error.pos)), text)
    except ValueError:
        # Python refuses to convert a number of more than 4,300 digits; tomli lets that error through.
        digits = re.search(r"[0-9_]{4300,}", text)
        place = _at(text, digits.start() if digits else 0)
        return _refused(Fault("not-json", "a number has thousands of digits", span=place), text)
    places = Places(text)
    # Tables that only the dots of headers and keys open; to be as deep as a path, the data has to be nested so.
    deepest = max(places.keys, key=len, default=()) if json_depth(data) > TOML_DEPTH else ()
    if len(deepest) > TOML_DEPTH:
        return _refused(_too_deep(places.span(deepest, "key")), text)
    return Document(data, places, tuple(_not_json(data, (), free)), text)


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


def _not_json(value: Any, path: KeyPath, free: KeyPath) -> Iterator[Fault]:
    if path and path == free:
        return
    if is_table(value):
        for key, item in value.items():
            yield from _not_json(item, (*path, key), free)
    elif is_array(value):
        for index, item in enumerate(value):
            yield from _not_json(item, (*path, index), free)
    elif reason := json_fault(value):
        yield Fault("not-json", reason, path=path)


def _at(text: str, offset: int) -> Span:
    line_start = text.rfind("\n", 0, offset) + 1
    column = offset - line_start + 1
    return Span(text.count("\n", 0, offset) + 1, column, column + 1)
