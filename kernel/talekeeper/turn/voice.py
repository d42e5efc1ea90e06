"""What a session's settings say about its narration: who speaks, for whom, and the author's note.

{"narrator": "big", "persona": "Mara, a smuggler with one eye.", "author_note": "Keep it slow and cold."}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from talekeeper.errors import ParameterError
from talekeeper.story import Session


@dataclass(frozen=True, slots=True)
class Voice:
    """`slot` is that of the model that speaks, empty for the preset's.

    The texts are the person's own, but for those that `from_world` names: they stand as a world file has given them.
    """

    slot: str = ""
    persona: str = ""
    note: str = ""
    from_world: tuple[str, ...] = ()


def voice(session: Session) -> Voice:
    """Reads the settings; raises `ParameterError` for one that is no text."""
    persona, note = _text(session, "persona"), _text(session, "author_note")
    return Voice(_text(session, "narrator"), persona, note, _from_world(session, persona=persona, author_note=note))


def _from_world(session: Session, **texts: str) -> tuple[str, ...]:
    world: object = session.settings.get("world")
    given: Mapping[str, object] = cast("Mapping[str, object]", world) if isinstance(world, Mapping) else {}
    return tuple(
        name.replace("_", " ") for name, text in texts.items() if text and text == str(given.get(name, "")).strip()
    )


def _text(session: Session, key: str) -> str:
    value = session.settings.get(key, "")
    if not isinstance(value, str):
        raise ParameterError(f"session {session.id}: {key}", "this setting is text", cure="set it again, or to nothing")
    return value.strip()
