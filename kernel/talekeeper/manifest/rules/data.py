"""What holds for a namespace beyond the shape of its table: the record schema, the searched properties, the seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from talekeeper.config import KeyPath, Table, did_you_mean
from talekeeper.json_schema import item_types, properties, required, types
from talekeeper.manifest import codes
from talekeeper.manifest.diagnostic import Finding
from talekeeper.manifest.limits import SESSION_SEED_LINES
from talekeeper.manifest.package import PathRefused
from talekeeper.manifest.rules import schema_files, seeds
from talekeeper.manifest.rules.point import RuleContext, listed_once
from talekeeper.text import quoted, visible


def _limits(context: RuleContext) -> Iterator[Finding]:
    for entry in context.entries:
        if entry.text("on-limit") == "oldest" and "limit" not in entry:
            only = " of an append-only namespace" if entry.raw.get("append-only") is True else ""
            message = f'on-limit = "oldest"{only} says what happens at a limit, and there is none'
            yield Finding(codes.OLDEST_OF_WHAT, entry.at("on-limit"), message)


def _schemas(context: RuleContext) -> Iterator[Finding]:
    for entry in context.entries:
        loaded = context.files.load(entry, "schema")
        yield from loaded.findings
        if loaded.schema is not None:
            yield from _searched(entry.table("search"), loaded.schema, entry.text("schema") or "")
            yield from _seeded(context, entry, loaded.schema)


def _searched(search: Table, schema: Mapping[str, Any], file: str) -> Iterator[Finding]:
    known = properties(schema)
    for key in ("text", "title", "speaker", "time", "tags", "when"):
        for path, name in search.texts(key):
            if name not in known:
                listed = ", ".join(visible(it) for it in list(known)[:8]) or "no properties"
                message = f"search.{key} names {quoted(name)}, which {visible(file)} does not have; it has {listed}"
                yield Finding(codes.NO_SUCH_PROPERTY, path, message, did_you_mean(name, known))
            elif reason := _wrong_type(key, schema, known[name]):
                yield Finding(codes.NOT_SEARCHABLE, path, f"search.{key} names {quoted(name)}, {reason}")
    yield from listed_once(search, "text", "search.text")
    yield from _optional(search, known, required(schema))


def _wrong_type(key: str, schema: Mapping[str, Any], declared: Any) -> str:
    found = types(schema, declared) - {"null"}
    said = " or ".join(sorted(found)) or "of no declared type"
    if key == "when":
        return "" if found == {"boolean"} else f"which is {said} in the record schema, expected boolean"
    if key != "tags":
        return "" if found == {"string"} else f"which is {said} in the record schema, expected string"
    items = item_types(schema, declared)
    if found == {"array"} and items == {"string"}:
        return ""
    said = f"array of {' or '.join(sorted(items)) or 'anything'}" if found == {"array"} else said
    return f"which is {said} in the record schema, expected array of string"


def _optional(search: Table, known: Mapping[str, Any], always: set[str]) -> Iterator[Finding]:
    names = [name for _, name in search.texts("text")]
    if names and all(name in known for name in names) and not always.intersection(names):
        message = f"no record needs to have {' or '.join(map(quoted, names))}, and one without it is never found"
        yield Finding(codes.OFTEN_ABSENT, search.at("text"), message)


def _seeded(context: RuleContext, entry: Table, schema: Mapping[str, Any]) -> Iterator[Finding]:
    pattern, path = entry.text("seed"), entry.at("seed")
    if not pattern:
        return
    package = context.files.package
    try:
        files = package.matching(pattern)
        lost = [it for it in (schema_files.missing_file(package, path, file) for file in files) if it]
        survey = seeds.Survey(0, ()) if lost else seeds.survey(package, files, schema)
    except PathRefused as refusal:
        yield Finding(codes.OUTSIDE, path, f"{quoted(pattern)} is not a path inside the package: {refusal}")
        return
    except OSError as error:
        yield schema_files.unreadable_file(path, pattern, error)
        return
    if not files:
        yield Finding(codes.NO_SEED, path, f"no file in the package matches {quoted(pattern)}")
    yield from lost
    for fault in survey.faults:
        yield Finding(codes.BAD_SEED, path, fault)
    yield from _too_long(entry, path, survey.lines)


def _too_long(entry: Table, path: KeyPath, lines: int) -> Iterator[Finding]:
    limit = entry.whole("limit")
    if entry.text("scope") in {None, "session"} and lines > SESSION_SEED_LINES:
        message = f"the seed has {lines:,} lines, at most {SESSION_SEED_LINES} are loaded into a session"
        yield Finding(codes.SEED_TOO_LONG, path, message)
    elif limit is not None and lines > limit:
        yield Finding(codes.SEED_TOO_LONG, path, f"the seed has {lines:,} lines, and limit is {limit:,}")


RULES = (_limits, _schemas)
