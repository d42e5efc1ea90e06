"""World Info and lorebook JSON → cards.

Three shapes are in use: SillyTavern's World Info (`entries` is a table, fields `key`, `keysecondary`, `comment`,
`disable`), the book inside a character card V2 (`entries` is a list, fields `keys`, `secondary_keys`, `name`,
`enabled`), and the same list wrapped as `{"spec": "lorebook_v3", "data": …}`. Both spellings of a field are read
wherever they stand, since converters mix them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, cast

from talekeeper_memory.card_values import Names, card, table_of, text_of, unique, whole, words

Skipped = Callable[[str, str], None]
"""Told what was left out and why."""

Entries = list[tuple[str, Any]]
"""(id, entry) pairs in the file's order; an entry may be anything."""


def entries_of(data: object) -> Entries | None:
    """A lorebook's entries, or None when `data` is not a lorebook."""
    book = table_of(data)
    if book is not None and "entries" not in book:
        book = table_of(book.get("data"))
    entries = None if book is None else book.get("entries")
    by_id = table_of(entries)
    if by_id is not None:
        return list(by_id.items())
    if isinstance(entries, list):
        return [(str(number), entry) for number, entry in enumerate(cast("list[object]", entries))]
    return None


def cards_of(entries: Entries, names: Names, skipped: Skipped, taken: set[str]) -> Iterator[dict[str, Any]]:
    """One card for each entry that has a text; `taken` holds the names used so far in this file."""
    for identity, value in entries:
        entry = table_of(value)
        if entry is None:
            skipped(f"entry {identity}", "it is not a table")
            continue
        body = names.fill(_said(text_of(entry.get("content"))))
        if not body:
            skipped(f"entry {identity}", "it has no content")
            continue
        keys = words(_either(entry, "key", "keys"))
        if entry.get("use_regex") is True and keys:
            skipped(f"keys of entry {identity}", "they are regular expressions, which are never run")
            keys = []
        yield _card(identity, entry, body, keys, names, taken)


def _said(content: str) -> str:
    """The text below the decorators, lines with @@ that a card V3 may begin with to steer other programs."""
    lines = content.splitlines(keepends=True)
    while lines and lines[0].startswith("@@"):
        del lines[0]
    return "".join(lines).strip()


def _card(
    identity: str, entry: Mapping[str, Any], body: str, keys: list[str], names: Names, taken: set[str]
) -> dict[str, Any]:
    title = names.fill(text_of(entry.get("name")) or text_of(entry.get("comment")))
    return card(
        unique(title or (names.fill(keys[0]) if keys else "") or f"entry {identity}", taken),
        body,
        keys=[names.fill(key) for key in keys],
        secondary_keys=[names.fill(key) for key in words(_either(entry, "keysecondary", "secondary_keys"))],
        constant=entry.get("constant") is True,
        enabled=entry.get("disable") is not True and entry.get("enabled") is not False,
        order=whole(_either(entry, "order", "insertion_order"), 100),
    )


def _either(entry: Mapping[str, Any], first: str, second: str) -> object:
    value = entry.get(first)
    return entry.get(second) if value is None else value
