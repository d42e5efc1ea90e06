"""What a reader makes of one message in a file."""

from __future__ import annotations

from dataclasses import dataclass, field

from talekeeper.story import Draft, Role

PLAYER_NAMES = frozenset({"user", "player"})


@dataclass(frozen=True, slots=True)
class Entry:
    """A message and where it stood: its line, and the offset in bytes where reading goes on.

    `session` is None where the format has one session a file.
    """

    line: int
    end: int
    draft: Draft
    session: str | None = None


@dataclass(slots=True)
class Notes:
    """What was not taken over as it stood: reason → how often and the first line; filled while a reader runs."""

    taken: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])

    def take(self, reason: str, line: int) -> None:
        """Counts one message, line or key."""
        count, first = self.taken.get(reason, (0, line))
        self.taken[reason] = (count + 1, first)


def role_of(speaker: str, player: str | None, mark: Role | None = None) -> Role:
    """A speaker's role: `--player NAME` decides, then the format's own mark, then the names user and player."""
    if mark in ("system", "tool"):
        return mark
    if player is not None:
        return "player" if speaker.casefold() == player.casefold() else "narrator"
    if mark is not None:
        return mark
    return "player" if speaker.casefold() in PLAYER_NAMES else "narrator"
