"""What a session's settings say about its narration: who speaks, for whom, and the author's note.

{"narrator": "big", "narrator_name": "Edda", "player": {"name": "Mara"}, "persona": "Mara, a smuggler with one eye.",
"author_note": "Keep it slow.", "world": {…}, "imported": {"player": "Anon", "narrator": "Seraphina"}}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from talekeeper.errors import ParameterError
from talekeeper.story import Session


@dataclass(frozen=True, slots=True)
class Voice:
    """`slot` is that of the model that speaks, empty for the preset's; `name` and `player` go with what is said.

    The texts are the person's own, but for those that `from_world` names: they stand as a world file has given them.
    """

    slot: str = ""
    name: str = ""
    player: str = ""
    persona: str = ""
    note: str = ""
    from_world: tuple[str, ...] = ()


def session_voice(session: Session) -> Voice:
    """Reads the settings; raises `ParameterError` for one that is no text.

    A name that nobody has given is the imported chat's own, and a narrator's in the end that of the slot which the
    session names, for where several speak in turn.
    """
    slot, persona, note = _text(session, "narrator"), _text(session, "persona"), _text(session, "author_note")
    imported = _table(session, "imported")
    name = _text(session, "narrator_name") or _said(imported, "narrator") or slot
    player = _said(_table(session, "player"), "name") or _said(imported, "player")
    return Voice(slot, name, player, persona, note, _from_world(session))


def _from_world(session: Session) -> tuple[str, ...]:
    """What stands as the world file has given it."""
    given = _table(session, "world")
    stands = [name for name, value in given.items() if value and session.settings.get(name) == value]
    return tuple(name.replace("_", " ") for name in stands)


def _table(session: Session, key: str) -> Mapping[str, object]:
    value: object = session.settings.get(key)
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}


def _said(table: Mapping[str, object], key: str) -> str:
    value = table.get(key)
    return value.strip() if isinstance(value, str) else ""


def _text(session: Session, key: str) -> str:
    value = session.settings.get(key, "")
    if not isinstance(value, str):
        raise ParameterError(f"session {session.id}: {key}", "this setting is text", cure="set it again, or to nothing")
    return value.strip()
