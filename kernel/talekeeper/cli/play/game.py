"""One session being played: turns by the model or the person, the jobs that follow, and which model narrates."""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from talekeeper.cli import output
from talekeeper.cli.play.console import Interrupt, Lines, Stage, interruptible
from talekeeper.cli.present import message_json, place
from talekeeper.errors import Cancelled, NoModel, TalekeeperError
from talekeeper.models import NO_MODELS, find_local_servers
from talekeeper.story import Address, Message, Session
from talekeeper.turn import Approval, TurnResult, Worker, narration_settings

if TYPE_CHECKING:
    from talekeeper.home import Home
    from talekeeper.models import Slot

JOBS_WAIT = 20.0
"""Seconds a turn waits at most for what follows the one before; then it goes on without it."""

_GOES_ON = "the jobs of the last turn are not done yet; continuing without them"
_THOUGHT = "</think>"
_SAID_AFTER = 1.0
_SLICE = 0.1


class Game:
    """Keeps one narrator and one worker for its session. `over` is set by the command that leaves."""

    def __init__(self, home: Home, address: Address, stage: Stage, lines: Lines) -> None:
        self.home = home
        self.tree = home.story.tree
        self.address = address
        self.stage = stage
        self.lines = lines
        self.over = False
        self.narrator = home.narrator()
        runner = home.jobs()
        runner.awaken(address)
        self._worker = Worker(runner)
        self._told_of_waiting: set[str] = set()

    # What is so

    @property
    def session(self) -> Session:
        """As it stands now."""
        return self.home.story.sessions.get(self.address)

    @property
    def slot(self) -> Slot | None:
        """Who narrates; None: the person does."""
        name = narration_settings(self.session).slot or self.home.preset_of(self.session).slot
        return self.home.models.slot(name)

    def waiting(self) -> Message | None:
        """The player's message at the head that nobody has answered."""
        newest = self.tree.newest_turn(self.address)
        return newest[-1] if newest and newest[-1].role == "player" else None

    # Turns

    def say(self, text: str | None) -> None:
        """A turn with the player's text; without one what waits is answered, or the story goes on by itself."""
        self._tell(partial(self.narrator.turn, self.address, text, origin=self.lines.origin))

    def retry(self) -> None:
        """Another take of the newest turn; where no model is, the head goes to where it is answered from."""
        if self.slot is None:
            self.tree.retry(self.address)
            self.stage.tell("waiting", {}, lambda: output.note("/narrator TEXT writes another take"))
            return
        self._tell(partial(self.narrator.retry, self.address))

    def by_hand(self, text: str) -> None:
        """The narration as the person writes it."""
        self._show(self.narrator.by_hand(self.address, text))

    def _tell(self, turn: Callable[..., TurnResult]) -> None:
        with interruptible() as interrupt:
            self._wait_for_jobs(interrupt)
            interrupt.cancel.clear()
            try:
                result = turn(on_text=self.stage.piece, cancel=interrupt.cancel, approve=self._approval(interrupt))
            except Cancelled:
                self.stage.tell("cancelled", self._left(), lambda: output.note(f"stopped. {self._what_now()}"))
            except NoModel as fault:
                if self.waiting() is None:
                    self.stage.fault(fault)
                else:
                    self.stage.tell("waiting", self._left(), lambda: output.note("kept; /narrator TEXT answers it"))
            except TalekeeperError as fault:
                self.stage.fault(fault)
                if self.waiting() is not None:
                    self.stage.note(self._what_now())
            else:
                self._show(result)

    def _show(self, result: TurnResult) -> None:
        self._take_back_thoughts(result)
        usage = result.usage
        data = {
            "turn": result.narration.turn,
            "messages": [message_json(message) for message in result.messages],
            "usage": None if usage is None else {"prompt": usage.prompt, "completion": usage.completion},
            "calls": [{"tool": one.tool, "plugin": one.plugin, "fault": one.fault} for one in result.calls],
            "decisions": list(result.decisions),
            "jobs": [f"{job.plugin}/{job.kind}" for job in result.jobs],
        }
        self.stage.tell("turn", data, lambda: self._show_calls(result))
        self._worker.notify(self.address)

    def _take_back_thoughts(self, result: TurnResult) -> None:
        """Says what the answer is where the model's thoughts were shown as one: nothing had told before they ended."""
        shown, text = self.stage.pieces(), result.narration.text
        if _THOUGHT in shown and _THOUGHT not in text:

            def show() -> None:
                output.note("— all of that was the model thinking, and not part of the story; the answer is:")
                output.say(text)

            self.stage.tell("retracted", {"text": text}, show)

    def _show_calls(self, result: TurnResult) -> None:
        for one in result.calls:
            output.note(f"· {one.tool}{f': {one.fault}' if one.fault else ''}")
        if self.lines.interactive:
            output.say()

    def _left(self) -> dict[str, Any]:
        left = self.waiting()
        return {"message": None if left is None else message_json(left)}

    def _what_now(self) -> str:
        return "Your line is kept: an empty line sends it again" if self.waiting() else "The story is unchanged"

    def _approval(self, interrupt: Interrupt) -> Callable[[Approval], bool] | None:
        """Asks the person; None where none is there to be asked."""
        if not self.lines.interactive:
            return None

        def ask(wanted: Approval) -> bool:
            arguments = json.dumps(dict(wanted.arguments), ensure_ascii=False, default=dict)
            self.stage.end_line()
            output.note(f"The narrator wants to use {wanted.plugin}/{wanted.tool} with {arguments}")
            output.note(f"This acts outside the story, and {wanted.because}.")
            interrupt.asking = True
            try:
                return self.lines.confirm("Allow it?", otherwise=False)
            except KeyboardInterrupt:
                return False
            finally:
                interrupt.asking = False

        return ask

    # Jobs

    def finish(self) -> None:
        """Before leaving: gives jobs a bounded time. What is not done then is broken off and done another time."""
        later = f"they start again after the next turn, or with: talekeeper jobs run {self.address.session}"
        with interruptible() as interrupt:
            self._wait_for_jobs(interrupt, f"the jobs of the last turn are not done and are stopped; {later}")

    def close(self) -> None:
        """Lets go of what runs."""
        self._worker.close()

    def jobs_waiting(self) -> dict[str, list[str]]:
        """Reason → `plugin/job` of the jobs that are not done, each once."""
        found: defaultdict[str, dict[str, None]] = defaultdict(dict)
        for where, job in self.home.story.jobs.unfinished(self.address.workspace):
            if where == self.address:
                found[job.reason or str(job.state)][f"{job.plugin}/{job.kind}"] = None
        return {reason: list(paths) for reason, paths in found.items()}

    def _wait_for_jobs(self, interrupt: Interrupt, otherwise: str = _GOES_ON) -> None:
        began = time.monotonic()
        said = False
        while not self._worker.wait(self.address, _SLICE) and not interrupt.cancel.is_set():
            waited = time.monotonic() - began
            if waited >= JOBS_WAIT:
                self.stage.note(otherwise)
                return
            if waited >= _SAID_AFTER and not said and self.lines.interactive:
                said = True
                self.stage.note("… the jobs of the last turn are running; Ctrl-C continues without waiting")
        if interrupt.cancel.is_set():
            self.stage.note(otherwise)
        self._tell_what_waits()

    def _tell_what_waits(self) -> None:
        """Says of each kind of job once why it waits."""
        for reason, paths in self.jobs_waiting().items():
            new = [path for path in paths if path not in self._told_of_waiting]
            if new and reason not in {"pending", "running"}:
                self._told_of_waiting.update(new)
                told = partial(output.note, f"· {', '.join(new)}: {reason}")
                self.stage.tell("jobs", {"jobs": new, "reason": reason}, told)

    # Where the story stands

    def stand(self, session: Session) -> None:
        """Says where the head is now, and what was said last there; jobs that waited for a return to it are done."""
        self._worker.notify(self.address)
        last = self.home.story.messages.read(self.address, last=1)
        newest = last[0] if last else None
        data = {
            "place": place(session.head),
            "turn": newest.turn if newest else 0,
            "last": message_json(newest) if newest else None,
        }
        self.stage.tell("stands", data, lambda: _show_stand(newest))


def _show_stand(newest: Message | None) -> None:
    if newest is None:
        output.say("The story has not begun.", dim=True)
        return
    output.say(f"turn {newest.turn}", dim=True)
    output.say(f"> {newest.text}" if newest.role == "player" else newest.text)


_NAMED = 3
_UNASKED = (
    "without a terminal nobody can allow it to narrate, so nothing is sent there; set OPENAI_BASE_URL={url}, or name "
    "it in talekeeper.toml"
)


def choose_models(home: Home, stage: Stage, lines: Lines, *, no_model: bool) -> None:
    """Where nothing is configured or remembered, looks on this machine, names what is there, and asks about it.

    Yes is remembered; after no this play has no model, and the next one asks again. Where nobody can be asked, none is
    used either.
    """
    if no_model:
        home.use_models(NO_MODELS)
    if home.models.origin != "none" or no_model:
        return
    found = find_local_servers(clock=home.clock)
    if not found:
        return
    server = found[0]
    models = ", ".join(server.models[:_NAMED]) + (", …" if len(server.models) > _NAMED else "")
    told = f"{server.program} answers on this machine at {server.url} with {models}"
    data = {"program": server.program, "url": str(server.url), "models": server.models}
    stage.tell("local-server", data, lambda: output.note(f"{told}."))
    if not lines.interactive:
        stage.note(_UNASKED.format(url=server.url))
    elif lines.confirm("Let it narrate, now and from now on?", otherwise=True):
        home.remember_server(str(server.url))
        return
    home.use_models(NO_MODELS)
