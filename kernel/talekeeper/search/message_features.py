"""How a message is said, in a byte kept beside its words: how much of it asks, and whose voice it is.

Two bits hold the share of its characters that stand in questions, in thirds; one whether the player speaks, five a hash
of the speaker's name. Of two narrators' names one pair in 32 looks like the same voice, and what the one asks the other
counts as a statement; with three bits that cost .03 in MRR on one set.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from talekeeper.search.passage import PERSON, WITHDRAWN, Kind, Passage
from talekeeper.text import digest

if TYPE_CHECKING:
    from talekeeper.search.storage.columns import Bools, Column, Doubles, Positions

_VOICE_BITS = 6
_VOICE = (1 << _VOICE_BITS) - 1
_THIRDS = 3
_ENDS = r"([.!?。！？…\n])"
_ASKING = frozenset("?？")


def features_of_message(text: str, speaker: str, *, is_player: bool) -> int:
    """From 0 to 255."""
    voice = (digest(speaker) << 1 | is_player) & _VOICE
    return asked_thirds(text) << _VOICE_BITS | voice


def flags_of(passage: Passage) -> int:
    """The byte of a passage: a message's features, a record's marks of its version."""
    if passage.kind is Kind.MESSAGE:
        return passage.features
    return PERSON * passage.person | WITHDRAWN * passage.withdrawn


def asked_thirds(text: str) -> int:
    """0 for a text without questions to 3 for one of nothing else."""
    if _ASKING.isdisjoint(text):
        return 0
    sentences = re.split(_ENDS, text)
    asked = sum(len(words) + 1 for words, end in zip(sentences[::2], sentences[1::2], strict=False) if end in _ASKING)
    return round(_THIRDS * asked / len(text))


def answered(flags: Column) -> Doubles:
    """For messages in order, the share of each that asks, where the next one speaks in another voice; else 0."""
    import numpy as np  # noqa: PLC0415 - a write needs none of it

    voice = flags & _VOICE
    is_followed: Bools = np.zeros(len(flags), np.bool_)
    np.not_equal(voice[1:], voice[:-1], out=is_followed[:-1])
    share: Doubles = (flags >> _VOICE_BITS) / _THIRDS * is_followed
    return share


def turns_taken(flags: Column, places: Positions) -> float:
    """For messages at ascending places, the share of those with the next one among them that another voice follows.

    1 where no two stand side by side.
    """
    import numpy as np  # noqa: PLC0415 - a write needs none of it

    voice = flags & _VOICE
    changes: Bools = (voice[1:] != voice[:-1])[np.diff(places) == 1]
    return float(changes.mean()) if len(changes) else 1.0


def lent_part(flags: Column, places: Positions, monologue: float) -> float:
    """What messages lend each other, beside 1 where voices take turns: `monologue` where one speaks throughout."""
    return monologue + (1 - monologue) * turns_taken(flags, places)
