"""What a session's settings say about its narration: who speaks, for whom, and the author's note.

{"narrator": "big", "persona": "Mara, a smuggler with one eye.", "author_note": "Keep it slow and cold."}
"""

from __future__ import annotations

from dataclasses import dataclass

from talekeeper.errors import ParameterError
from talekeeper.story import Session


@dataclass(frozen=True, slots=True)
class Voice:
    """`slot` is that of the model that speaks, empty for the preset's; the texts are the person's own."""

    slot: str = ""
    persona: str = ""
    note: str = ""


def voice(session: Session) -> Voice:
    """Reads the settings; raises `ParameterError` for one that is no text."""
    return Voice(_text(session, "narrator"), _text(session, "persona"), _text(session, "author_note"))


def _text(session: Session, key: str) -> str:
    value = session.settings.get(key, "")
    if not isinstance(value, str):
        raise ParameterError(f"session {session.id}: {key}", "this setting is text", cure="set it again, or to nothing")
    return value.strip()
