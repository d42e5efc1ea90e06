"""Plays a session in process: each turn, then the jobs that follow it, and what was seen of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from talekeeper.errors import TalekeeperError
from talekeeper.home import Home
from talekeeper.story import Address, Decision, Job
from talekeeper.turn import JobRunner, Narrator, TurnResult, turn_decisions

from verify.recording import Recording
from verify.scripted import Teller, player_says


@dataclass
class Turn:
    """A turn as it was told; `fault` when it was not. `decided` are its decision records."""

    number: int
    said: str
    result: TurnResult | None = None
    decided: list[Decision] = field(default_factory=list[Decision])
    jobs: list[Job] = field(default_factory=list[Job])
    fault: str = ""

    @property
    def history_from(self) -> int:
        """The first turn that its prompt showed whole."""
        return max((int(one.document.get("history_from", 0)) for one in self.decided if not one.plugin), default=0)

    def as_json(self) -> dict[str, Any]:
        """A line of the artefacts."""
        result = self.result
        return {
            "turn": self.number,
            "player": self.said,
            "narrator": result.narration.text if result else "",
            "fault": self.fault,
            "calls": [{"tool": call.tool, "fault": call.fault} for call in result.calls] if result else [],
            "history_from": self.history_from,
            "decisions": [{"plugin": one.plugin, "segment": one.segment, **dict(one.document)} for one in self.decided],
            "jobs": [
                {"job": f"{job.plugin}/{job.kind}", "state": str(job.state), "reason": job.reason} for job in self.jobs
            ],
        }


@dataclass
class Play:
    """One session of a run. `teller` is the scripted narrator, None for a real endpoint."""

    home: Home
    address: Address
    recording: Recording
    locale: str
    teller: Teller | None
    log: Callable[[str], None]
    turns: list[Turn] = field(default_factory=list[Turn])

    def __post_init__(self) -> None:
        home = self.home
        self.narrator = Narrator(home.services, self.recording, home.leases, presets=home.preset_of)
        self.runner = JobRunner(home.services, self.recording, home.leases)

    def turn(self) -> Turn:
        """The next turn."""
        number = len(self.turns) + 1
        said = player_says(number, self.locale)
        return self._told(number, said, lambda: self.narrator.turn(self.address, said, origin="typed"))

    def retry(self) -> Turn:
        """The newest turn once more."""
        return self._told(len(self.turns) + 1, "(retry)", lambda: self.narrator.retry(self.address))

    def lineage(self) -> list[str]:
        """Ids of the messages from the beginning to the head."""
        return [message.id for message in self.home.story.messages.read(self.address)]

    def would_show(self) -> list[str]:
        """What a next turn would show its narrator, by a dry run."""
        dry = self.narrator.recall(self.address, player_says(1, self.locale))
        return [f"from {dry.history_from}", *(one.text for one in dry.decided)]

    def _told(self, number: int, said: str, tell: Callable[[], TurnResult]) -> Turn:
        turn = Turn(number, said)
        self.turns.append(turn)
        self.recording.turn = number
        if self.teller is not None:
            self.teller.turn = number
        try:
            turn.result = tell()
            told = turn.result.narration
            turn.decided = turn_decisions(self.home.story, self.address, told.turn)
            turn.jobs = self.runner.run(self.address)
        except TalekeeperError as fault:
            turn.fault = str(fault)
        outcome = turn.fault or f"{len(turn.jobs)} jobs, history from turn {turn.history_from}"
        self.log(f"{self.address.session} turn {number}: {outcome}")
        return turn
