"""What is asked of an import, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from talekeeper.errors import TalekeeperError


@dataclass(frozen=True, slots=True)
class Options:
    """`session` puts every message of the file into that session; `player` names the speaker who is the player.

    `title`, `locale` and `plugins` are what a new session starts with. A dry run reads and compares everything and
    changes nothing.
    """

    workspace: str = "default"
    session: str | None = None
    player: str | None = None
    title: str = ""
    locale: str = "en"
    plugins: tuple[str, ...] = ()
    dry_run: bool = False


@dataclass(slots=True)
class SessionCount:
    """What became of one session's messages, takes included."""

    session: str
    created: bool = False
    imported: int = 0
    already_there: int = 0


@dataclass(slots=True)
class Report:
    """`notes` say what was not taken over as it stood: reason → how often, and the first line.

    `error` is what ended the import, if anything did.
    """

    file: str
    format: str
    dry_run: bool = False
    sessions: dict[str, SessionCount] = field(default_factory=dict[str, SessionCount])
    notes: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    error: TalekeeperError | None = None

    @property
    def imported(self) -> int:
        """Messages that were not there before, takes included."""
        return sum(one.imported for one in self.sessions.values())

    @property
    def already_there(self) -> int:
        """Messages an earlier import had brought."""
        return sum(one.already_there for one in self.sessions.values())

    def session(self, name: str) -> SessionCount:
        """The counts of one session."""
        return self.sessions.setdefault(name, SessionCount(name))
