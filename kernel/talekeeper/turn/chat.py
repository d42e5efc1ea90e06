"""History and framed segments as the messages a model is sent: roles that take turns, beginning with the user's.

Many chat templates refuse anything else, so neighbours of one role are joined, and a story that begins with the
narrator gets a line of the user's before it.
"""

from __future__ import annotations

from collections.abc import Sequence

from talekeeper.models import ChatMessage
from talekeeper.story import Message
from talekeeper.text import cut_graphemes
from talekeeper.turn.frame import clean
from talekeeper.turn.wording import Wording

_APART = "\n\n"
_LONGEST_NAME = 80  # characters
_NO_TAGS = str.maketrans("<>", "‹›")


def chat(
    system: str, told: Sequence[Message], after: Sequence[str], words: Wording, *, go_on: bool
) -> list[ChatMessage]:
    """The prompt. `after` stands before the player's last words, or with `go_on` before the request to continue."""
    several = {role for role in ("player", "narrator") if len(_speakers(told, role)) > 1}
    said: list[tuple[str, list[str]]] = []
    for message in told:
        role = "user" if message.role == "player" else "assistant"
        name = f"{_name(message)}: " if message.role in several and _name(message) else ""
        if not said or said[-1][0] != role:
            said.append((role, []))
        said[-1][1].append(name + message.text)
    if go_on:
        said.append(("user", [words.go_on]))
    if said and said[0][0] == "assistant":
        said.insert(0, ("user", [words.opening]))
    if said:
        texts = said[-1][1]
        # Behind what the player said before in the same breath, in front of what is to be answered.
        texts[-1:] = [*after, texts[-1]]
    messages = [ChatMessage("user" if role == "user" else "assistant", _APART.join(texts)) for role, texts in said]
    return [ChatMessage("system", system), *messages] if system else messages


def _name(message: Message) -> str:
    """A speaker as it stands before a text: files name speakers, and a name is no place for lines or tags.

    Empty where nobody speaks, or nobody whose name can be seen.
    """
    return cut_graphemes(clean(message.speaker).translate(_NO_TAGS), _LONGEST_NAME).strip()


def _speakers(told: Sequence[Message], role: str) -> set[str]:
    return {_name(message) for message in told if message.role == role} - {""}
