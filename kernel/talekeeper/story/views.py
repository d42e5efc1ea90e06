"""The rows of the store as the rooms above see them: frozen values, made only by story.

`Draft` and `Derived` go in; everything else comes out. A coordinate names a place in a session's tree; a lineage is the
way from the root to a coordinate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from talekeeper.manifest import Namespace

Role = Literal["player", "narrator", "tool", "system"]


@dataclass(frozen=True, slots=True, order=True)
class Coordinate:
    """A place in a session's tree: the message at `depth` (from 0) of `branch`.

    A branch begins one deeper than the place it was forked at; its own start, before any message of it, has that depth.
    """

    branch: int
    depth: int


ROOT = Coordinate(0, -1)
"""Before the first message. It lies on every lineage, so what is here holds on every branch."""


@dataclass(frozen=True, slots=True, order=True)
class Address:
    """Names one session."""

    workspace: str
    session: str


@dataclass(frozen=True, slots=True, order=True)
class Scope:
    """Whose records: a session's, a workspace's (`session` and `preset` empty) or a preset's (`session` empty)."""

    workspace: str
    session: str = ""
    preset: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """A message to append.

    `ref` is the importer's own id, unique in the session. `turn` is kept when given, else numbered by role. `time` is
    as written in the story or file, never the time of import. `origin` is typed, pasted, tool, imported or generated;
    empty means the face did not say. `caption` is indexed with the text and not shown as part of it; `extra` is kept
    and neither shown nor indexed. `takes` are other versions of this message, kept beside it, off the lineage.
    """

    role: Role
    text: str
    speaker: str = ""
    kind: str = ""
    ref: str | None = None
    turn: int | None = None
    time: str | None = None
    origin: str = "imported"
    caption: str = ""
    extra: str = ""
    takes: tuple[Draft, ...] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """One message; `seq` is its append number in the session, `revision` counts its edits from 0."""

    id: str
    coordinate: Coordinate
    seq: int
    ref: str | None
    turn: int
    role: Role
    kind: str
    speaker: str
    text: str
    time: str | None
    origin: str
    caption: str
    extra: str
    created: str
    revision: int
    hidden: bool
    deleted: bool


@dataclass(frozen=True, slots=True)
class TextRevision:
    """A text a message once had; `created` is when it was written, not when it was replaced."""

    revision: int
    text: str
    created: str


@dataclass(frozen=True, slots=True)
class Session:
    """One session; `messages` counts everything ever appended to it, on whatever branch, `revision` every change."""

    workspace: str
    id: str
    title: str
    preset: str
    owner: str
    channel: str
    locale: str
    plugins: tuple[str, ...]
    settings: Mapping[str, Any]
    head: Coordinate
    messages: int
    branches: int
    revision: int
    created: str
    updated: str

    @property
    def address(self) -> Address:
        """Where this session is found again."""
        return Address(self.workspace, self.id)


@dataclass(frozen=True, slots=True)
class Workspace:
    """A campaign or project; its id is also the name of its folder."""

    id: str
    title: str
    created: str


@dataclass(frozen=True, slots=True)
class Branch:
    """One branch; `fork` is the coordinate it grows from (`ROOT` for branch 0), `tip` the depth of its last message."""

    id: int
    fork: Coordinate
    tip: int
    name: str
    created: str


@dataclass(frozen=True, slots=True)
class Take:
    """One of the answers under the same coordinate; `tip` is where the head goes after it."""

    number: int
    first: Coordinate
    tip: Coordinate
    current: bool


@dataclass(frozen=True, slots=True)
class Derived:
    """What a record was made from: the messages at depths `start`..`end` of its coordinate's lineage, by which job."""

    start: int
    end: int
    job: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """One version of a record. `value` is plain JSON, None once forgotten.

    `turn` is that of the message at its coordinate, -1 without one; `turn_from` differs where it covers a range.
    """

    scope: Scope
    plugin: str
    namespace: str
    key: str
    revision: int
    coordinate: Coordinate
    value: Any
    created: str
    turn: int
    turn_from: int
    derived: Derived | None
    version: int
    person: bool
    withdrawn: bool
    forgotten: bool
    source_edited: bool


class JobState(StrEnum):
    """How far a job is; `REOPENED` is a succeeded one whose result was taken back."""

    PENDING = "pending"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    REOPENED = "reopened"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Job:
    """One row of the ledger: work on the messages `start`..`end` (depths on the lineage of `coordinate`).

    `reason` is why it was skipped, reopened or failed; `not_before` the earliest time of the next attempt.
    """

    id: str
    plugin: str
    kind: str
    coordinate: Coordinate
    start: int
    end: int
    state: JobState
    attempts: int
    did_work: bool
    covered: tuple[int, int] | None
    reason: str
    not_before: str | None
    details: Mapping[str, Any] = field(default_factory=dict[str, Any])
    created: str = ""
    updated: str = ""


@dataclass(frozen=True, slots=True)
class ModelUse:
    """One answered call of a model: tokens as the endpoint counted them, None where it did not.

    `cost` is in billionths of `currency`, at the price of that time; without a price the currency is empty.

    `plugin` made the call, empty for the narrator; `turn` is the turn it was made for.
    """

    slot: str
    model: str
    prompt: int | None
    completion: int | None
    turn: int
    plugin: str = ""
    created: str = ""
    cost: int | None = None
    currency: str = ""


@dataclass(frozen=True, slots=True)
class RecordUse:
    """How often a record was shown to the narrator on a lineage, and the last turn it was."""

    count: int
    last_turn: int


@dataclass(frozen=True, slots=True)
class Decision:
    """How one recall of a turn was decided; `coordinate` is that of the narration it was made for."""

    id: str
    turn: int
    coordinate: Coordinate
    plugin: str
    segment: str
    created: str
    document: Mapping[str, Any]


def scope_of(namespace: Namespace, session: Session) -> Scope:
    """Where a session finds the records of a namespace."""
    match namespace.scope:
        case "session":
            return Scope(session.workspace, session=session.id)
        case "preset":
            return Scope(session.workspace, preset=session.preset)
        case "workspace":
            return Scope(session.workspace)
