"""The values that cross between the kernel and a plugin's code: frozen, plain JSON inside, nothing of the store.

The kernel makes them (or a plugin does, to hand something back); `talekeeper.api` is where plugins import them from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, Protocol

from talekeeper.story import ROOT, Coordinate

if TYPE_CHECKING:  # for annotations alone; at run time search would bring numpy
    from talekeeper.search import Closeness, LeftOut, Placing, TermScore

Json = Any
"""None, bool, int, finite float, str, or lists and string-keyed mappings of these."""

_ALWAYS = frozenset({"source", "id", "turn", "text", "score", "matched"})


@dataclass(frozen=True, slots=True)
class MessageView:
    """A message on the lineage; `turn` 0 is what comes before the first player message."""

    id: str
    coordinate: Coordinate
    seq: int
    turn: int
    role: str
    kind: str
    speaker: str
    text: str
    time: str | None
    origin: str


@dataclass(frozen=True, slots=True)
class Record:
    """A record as read, or, from an importer, one to be written: then `namespace`, `key` and `value` count."""

    namespace: str
    key: str
    value: Mapping[str, Json]
    coordinate: Coordinate = ROOT
    revision: int = 0
    withdrawn: bool = False


@dataclass(frozen=True, slots=True)
class Also:
    """A passage with the identical text, folded into the one listed."""

    id: str
    turn: int | None


@dataclass(frozen=True, slots=True)
class Hit:
    """One result of memory-search, best first in its answer.

    `source` is `recall` for messages, else `archival:plugin_data` or `recall:plugin_data` with `plugin` and
    `namespace`. `turn` is None where no turn is known; `turn_from` is given by what covers a range ending at `turn`.
    `time` is when a message was said as the file it was imported from tells, or what the search table's `time` names.
    `text` is an excerpt. `near` are terms only the neighbouring messages hold. `in_prompt` says that the narrator's
    history shows the message already. `why`, `closeness` and `placing` are filled on request: how words made the
    score, what meaning added, and what the place comes from beside.
    """

    source: str
    id: str
    turn: int | None
    text: str
    score: float
    matched: tuple[str, ...]
    plugin: str = ""
    namespace: str = ""
    turn_from: int | None = None
    time: str = ""
    speaker: str = ""
    title: str = ""
    authority: str = ""
    near: tuple[str, ...] = ()
    also: tuple[Also, ...] = ()
    in_prompt: bool = False
    why: tuple[TermScore, ...] = ()
    closeness: Closeness | None = None
    placing: Placing | None = None

    def as_json(self) -> dict[str, Json]:
        """The object in `results`; what is empty is left out, `turn` and `matched` apart."""
        said: dict[str, Json] = {field.name: getattr(self, field.name) for field in fields(self)}
        said["also"] = [{"id": one.id, "turn": one.turn} for one in self.also]
        said["why"] = [asdict(one) for one in self.why]
        said["closeness"] = asdict(self.closeness) if self.closeness else None
        said["placing"] = {**asdict(self.placing), "ranks": list(self.placing.ranks)} if self.placing else None
        lists = {"matched": list(self.matched), "near": list(self.near)}
        return {name: value for name, value in {**said, **lists}.items() if value or name in _ALWAYS}


@dataclass(frozen=True, slots=True)
class Answer:
    """What memory-search gives back. `searched` counts passages in scope.

    `unavailable` names the sources that could not be searched and why; `indexing` those whose index is being rebuilt;
    `hint` says what to try when nothing qualified; `left_out`, on request, what filters took out.
    """

    results: tuple[Hit, ...]
    searched: int
    mode: str = "lexical"
    degraded: str = ""
    unavailable: Mapping[str, str] = field(default_factory=dict[str, str])
    indexing: tuple[str, ...] = ()
    hint: str = ""
    left_out: LeftOut | None = None

    def as_json(self) -> dict[str, Json]:
        """What a model or program is given; what may be empty only where it says something."""
        said: dict[str, Json] = {"degraded": self.degraded, "indexing": list(self.indexing), "hint": self.hint}
        said["left_out"] = asdict(self.left_out) if self.left_out else None
        return {
            "results": [hit.as_json() for hit in self.results],
            "mode": self.mode,
            "searched": self.searched,
            "unavailable": dict(self.unavailable),
            **{name: value for name, value in said.items() if value},
        }


@dataclass(frozen=True, slots=True)
class ScoredRecord:
    """A record of one namespace scored against weighted queries: `lexical` is the weighted sum of its BM25 scores.

    `matched` are the terms it shares with any of the queries, `share` their part of all query terms, 0..1. Records with
    the identical text have one score. `semantic` is the weighted sum of its cosines with the queries, None without an
    embedding model or before the record has a vector.
    """

    key: str
    lexical: float
    matched: tuple[str, ...]
    share: float
    semantic: float | None = None


@dataclass(frozen=True, slots=True)
class Holding:
    """How many live records a namespace has here, and how many of them hold each term of a text."""

    records: int
    terms: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class TurnView:
    """The turn a tool or prompt segment is called in.

    `coordinate` is the place of the turn before its answer. `player_message` is None in a turn that continues the
    story by itself. `history_from` is the first turn whose messages the prompt shows whole; it does not hold earlier
    ones. A `dry_run` shows what would be recalled and leaves no trace.
    """

    number: int
    coordinate: Coordinate
    player_message: MessageView | None
    history_from: int
    locale: str
    dry_run: bool = False


Authority = Literal["stated", "story", "inferred"]
"""Said by the person outside the story; part of the story; concluded by a model."""


@dataclass(frozen=True, slots=True)
class Line:
    """One item of a prompt segment. The kernel frames it as data, whatever its text says.

    `id` is the key of the record it comes from and `source` that record's namespace, both empty for what is no record:
    a record shown in a turn counts as used in it. `turn` is the turn it tells of.
    """

    text: str
    id: str = ""
    turn: int | None = None
    authority: Authority = "story"
    source: str = ""


@dataclass(frozen=True, slots=True)
class Considered:
    """One candidate of a recall, for the record of how it was decided: its scores by name, and why it was left out.

    `reason` is empty for one that was taken; else it says why not, with the number: `coverage 0.12 is below 0.2`.
    `because` says in words what called it up, where scores do not: `'brass key' in the player's message`.
    """

    id: str
    source: str
    scores: Mapping[str, float] = field(default_factory=dict[str, float])
    reason: str = ""
    repeats: str = ""
    because: str = ""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What a prompt segment gives when there was a choice: the lines, best or earliest first, and how they were chosen.

    `query` is the question, in words: `{"terms": ["mara", "key"]}`. A segment without a choice gives the lines
    alone.
    """

    lines: tuple[Line, ...]
    considered: tuple[Considered, ...] = ()
    query: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class JobResult:
    """How a job ended well.

    `covered` are the depths, inclusive, it need not be done for again; `skipped` says why there was nothing to do.
    `details` are kept with the job for people to read.
    """

    did_work: bool = True
    covered: tuple[int, int] | None = None
    skipped: str = ""
    details: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True)
class Use:
    """How often a record was shown to the narrator on the lineage, and the last turn it was."""

    count: int
    last_turn: int


@dataclass(frozen=True, slots=True)
class Completion:
    """A model's answer: its text, or with a schema the JSON object it gave as `value`."""

    text: str
    value: Mapping[str, Json] = field(default_factory=dict[str, Json])


class ImportReport(Protocol):
    """Given to an importer, which tells it what it leaves out; the kernel counts what is written."""

    def skipped(self, what: str, why: str) -> None:
        """Notes one entry of the file that gives no record."""
        ...
