"""SillyTavern chats: `.jsonl` whose first line is metadata and whose other lines are messages with swipes.

The metadata line (names, settings, often a megabyte of extension state) is read for the two names alone and never
stored; they are filled in for `{{user}}` and `{{char}}`. A message gives `mes`, `name`, `is_user`, `is_system` and
`send_date`; `swipes` become takes, `swipe_id` is the chosen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from talekeeper.exchange.source import Entry, JsonRow, Notes, Source, role_of
from talekeeper.story import Draft, Role

HEADER_KEYS = frozenset({"user_name", "character_name", "chat_metadata"})
_CHARACTER = re.compile(r"\{\{\s*char\s*\}\}", re.IGNORECASE)
_PLAYER = re.compile(r"\{\{\s*user\s*\}\}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Names:
    """Whom `{{user}}` and `{{char}}` stand for, which front ends fill in only when they show them.

    A macro without a name stays as it is written.
    """

    player: str = ""
    character: str = ""

    def fill(self, text: str) -> str:
        """The text with the names that are known."""
        if "{{" not in text:
            return text
        if self.character:
            text = _CHARACTER.sub(lambda _: self.character, text)
        return _PLAYER.sub(lambda _: self.player, text) if self.player else text


def read_sillytavern(source: Source, notes: Notes, player: str | None = None) -> Iterator[Entry]:
    """Entries in file order. A message's `ref` is its place and swipe: `#7` for the first swipe, then `#7/1`."""
    place = 0
    names = Names(player=player or "")
    for row in source.rows():
        if "mes" not in row.values:
            if not HEADER_KEYS & row.values.keys():
                notes.take("neither a message nor metadata", row.line.number)
            names = Names(
                player=names.player or _name(row, "user_name"),
                character=names.character or _name(row, "character_name"),
            )
            continue
        place += 1
        if row.values.get("is_system") is True:
            notes.take("a message that SillyTavern hides is kept and not searched", row.line.number)
        text = names.fill(row.text("mes"))
        if not text.strip():
            notes.take("blank text", row.line.number)
            continue
        swipes, chosen = _swipes(row, names, text)
        shared = _draft(row, names, player)
        drafts = [
            replace(shared, text=swipe, ref=f"#{place}/{number}" if number else f"#{place}")
            for number, swipe in enumerate(swipes)
        ]
        takes = tuple(d for number, d in enumerate(drafts) if number != chosen and d.text.strip() and d.text != text)
        yield Entry(row.line.number, row.line.end, replace(drafts[chosen], takes=takes))


def _name(row: JsonRow, key: str) -> str:
    value = row.values.get(key)
    # SillyTavern writes "unused" where it no longer keeps the name.
    return row.text(key).strip() if isinstance(value, str) and value != "unused" else ""


def _swipes(row: JsonRow, names: Names, text: str) -> tuple[list[str], int]:
    """All texts at this place and the chosen one's number. `mes` wins over the swipe it was edited from."""
    texts = [names.fill(each) for each in row.texts("swipes")]
    if not texts:
        return [text], 0
    chosen = row.values.get("swipe_id")
    if not isinstance(chosen, int) or not 0 <= chosen < len(texts):
        chosen = texts.index(text) if text in texts else 0
    texts[chosen] = text
    return texts, chosen


def _draft(row: JsonRow, names: Names, player: str | None) -> Draft:
    """What all swipes of a message share."""
    speaker = row.text("name") if "name" in row.values else ""
    is_user = row.values.get("is_user") is True
    mark: Role = "system" if row.values.get("is_system") is True else "player" if is_user else "narrator"
    speaker = speaker or (names.player if is_user else "")
    time = row.values.get("send_date")
    # Whatever is neither text nor a number is no time.
    is_time = isinstance(time, (str, int, float)) and not isinstance(time, bool)
    return Draft(role_of(speaker, player, mark), "", speaker, time=row.scalar("send_date") if is_time else None)
