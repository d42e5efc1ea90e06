"""What the index holds and what it gives back: the types that cross the border of search.

A `Passage` is made by story from a message or a record version and handed to `Index.add` inside story's own
transaction. A `Query` is made by context; a `Ranking` comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from talekeeper.text import Terms

Elsewhere = Callable[[int, Sequence[int]], Mapping[int, Sequence[float]]]

PERSON = 1  # bits of a record's `flags`; a message's are its features
WITHDRAWN = 2
LONGEST = 65_535  # tokens; a longer passage counts as this long


class Kind(IntEnum):
    """Messages get the neighbour stage and their own statistics; records do not."""

    MESSAGE = 0
    RECORD = 1


@dataclass(frozen=True, slots=True)
class Passage:
    """One piece of indexed text with everything a filter needs.

    Messages have `plugin == namespace == ""` and their id as `key`. A record version has its record's key;
    `revision`, `person` and `withdrawn` decide which version of a key stands on a lineage: among the versions on the
    lineage, those older than the newest one by a person drop out, then the deepest wins, then the highest revision;
    a `withdrawn` winner hides the key. `turn` is -1 when no turn is known. The root coordinate (0, -1) lies on every
    lineage: workspace and preset records and everything a person writes stand there.
    """

    kind: Kind
    plugin: str
    namespace: str
    key: str
    branch: int
    depth: int
    turn: int
    terms: Terms
    digest: int
    """Signed 64-bit hash of the text alone; equal digests fold in an answer."""
    revision: int = 0
    person: bool = False
    withdrawn: bool = False
    features: int = 0
    """Of a message, what `features_of_message` makes of it."""


@dataclass(frozen=True, slots=True)
class PartScope:
    """A partition and the lineage inside it: `upto[branch]` is the deepest depth that lies on the lineage."""

    part: int
    upto: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Source:
    """Messages (`Source()`), or one searchable namespace with its declared weight."""

    plugin: str = ""
    namespace: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the texts of a query mean: for some or all of them a vector in a space of the index.

    `elsewhere` gives the vectors of passages of a partition by number, of those that are not kept in the index.
    """

    space: int
    vectors: Mapping[str, Sequence[float]] = field(repr=False)
    elsewhere: Elsewhere | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Query:
    """`texts` are the query and its other wordings. Without a `meaning`, words alone decide.

    Turn bounds are inclusive; a passage of unknown turn is outside any.
    """

    texts: tuple[str, ...]
    parts: tuple[PartScope, ...]
    sources: tuple[Source, ...]
    turn_from: int | None = None
    turn_to: int | None = None
    before_turn: int | None = None
    """The running turn: messages of it or later are never results."""
    depth: int = 100
    neighbours: bool = True
    backs_off: bool = True
    """Whether a character is asked for by itself where no pair of it is in scope (back-off)."""
    explain: bool = False
    meaning: Meaning | None = None


@dataclass(frozen=True, slots=True)
class TermScore:
    """One row of an explanation: how a term made its part of a BM25 score."""

    term: str
    tf: float
    near_tf: float
    df: int
    idf: float
    contribution: float


@dataclass(frozen=True, slots=True)
class Closeness:
    """What a passage's meaning did for its place.

    `cosine` is with the wording that suits it best and `adds` what it put on top of the score by words, below 0 where
    it took from it. Ranks count from 1; `rank_by_words` is None for one that no word found.
    """

    cosine: float
    adds: float
    rank_by_meaning: int
    rank_by_words: int | None


@dataclass(frozen=True, slots=True)
class Placing:
    """What a passage's place comes from beside its words.

    `length` is in terms, `average` that of the passages of its kind in scope. `ranks` has its place in the list of each
    wording, from 1, None where that did not list it.
    """

    length: int
    average: float
    ranks: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """How many live passages of the sources asked the filters of a query took out, each counted once.

    `lineage` are those of other branches, the undone, and versions that do not stand; `turns` those outside the turns
    asked; `running` those of the running turn.
    """

    lineage: int
    turns: int
    running: int


class Ranked(NamedTuple):  # made for each result: a fifth of the time of a frozen dataclass
    """One found passage, best first in a `Ranking`. `matched` are terms it holds, `near` only its neighbours hold."""

    part: int
    doc: int
    kind: Kind
    plugin: str
    namespace: str
    key: str
    turn: int
    score: float
    matched: tuple[str, ...]
    near: tuple[str, ...] = ()
    also: tuple[tuple[str, int], ...] = ()
    """(key, turn) of passages with the identical text, folded into this one."""
    explanation: tuple[TermScore, ...] = ()
    closeness: Closeness | None = None
    """None where meaning was not asked, or the passage has no vector."""
    placing: Placing | None = None
    """None where no explanation was asked."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """`searched` counts the live passages in scope, `compared` those of them whose meaning was looked at."""

    hits: tuple[Ranked, ...]
    searched: int
    compared: int = 0
    left_out: LeftOut | None = None
    """None where no explanation was asked."""
