"""The commands of `talekeeper play`: one table, from which help, completion and dispatch come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from talekeeper.cli import output
from talekeeper.cli.commands.branches import place_in
from talekeeper.cli.commands.decisions import decision_json, dry_json, excerpt, show_decided, show_dry
from talekeeper.cli.commands.search import show_answer
from talekeeper.cli.commands.usage import show_usage, usage_rows
from talekeeper.cli.play.game import Game
from talekeeper.cli.present import message_json, place, show_message
from talekeeper.config import nearest
from talekeeper.errors import ParameterError
from talekeeper.memory_search import read_question, search_memory
from talekeeper.story import scope_of
from talekeeper.text import terminal_line
from talekeeper.turn import turn_decisions

_LINES = 3
_LAST = 4


@dataclass(frozen=True, slots=True)
class Command:
    """`argument` is as help shows it; in brackets it may be left out, empty there is none."""

    name: str
    argument: str
    help: str
    run: Callable[[Game, str], None]

    @property
    def usage(self) -> str:
        """As it is typed."""
        return f"/{self.name} {self.argument}".rstrip()


def dispatch(game: Game, line: str) -> None:
    """Runs a line that begins with a slash; raises `ParameterError` for one that is no command."""
    name, _, argument = line[1:].strip().partition(" ")
    argument = argument.strip()
    command = BY_NAME.get(name)
    if command is None:
        near = nearest(name, BY_NAME)
        cure = f"did you mean /{near}?" if near else "/help lists the commands; // begins a text with a slash"
        raise ParameterError(f"/{name}", "there is no such command", cure=cure)
    if argument and not command.argument:
        raise ParameterError(f"/{name}", "it takes no argument", cure=f"write {command.usage}")
    if not argument and command.argument and not command.argument.startswith("["):
        raise ParameterError(f"/{name}", f"it needs {command.argument}", cure=f"write {command.usage}")
    command.run(game, argument)


def complete(line: str) -> list[str]:
    """The commands that begin with what is typed."""
    return [f"/{one.name}{' ' if one.argument else ''}" for one in COMMANDS if f"/{one.name}".startswith(line) and line]


def _help(game: Game, _: str) -> None:
    rows = [(one.usage, one.help) for one in COMMANDS]
    data = {"commands": [{"usage": usage, "help": said} for usage, said in rows]}
    game.stage.tell("help", data, lambda: output.table(("command", "what it does"), rows))


def _quit(game: Game, _: str) -> None:
    game.over = True


def _undo(game: Game, _: str) -> None:
    game.stand(game.home.story.tree.undo(game.address))


def _redo(game: Game, _: str) -> None:
    game.stand(game.home.story.tree.redo(game.address))


def _retry(game: Game, _: str) -> None:
    game.retry()


def _continue(game: Game, _: str) -> None:
    game.say(None)


def _narrator(game: Game, text: str) -> None:
    game.by_hand(text)


def _fork(game: Game, name: str) -> None:
    game.stand(game.home.story.tree.fork(game.address, name=name))


def _branches(game: Game, _: str) -> None:
    head = game.session.head
    rows = [
        {
            "id": one.id,
            "name": one.name,
            "from": place(one.fork),
            "tip": f"{one.id}:{one.tip}",
            "here": one.id == head.branch,
        }
        for one in game.home.story.tree.branches(game.address)
    ]
    shown = [(one["id"], one["name"], one["from"], one["tip"], "*" if one["here"] else "") for one in rows]
    game.stage.tell(
        "branches",
        {"branches": rows},
        lambda: output.table(("branch", "name", "from", "tip", "here"), shown, right={0}),
    )


def _go(game: Game, where: str) -> None:
    game.stand(game.home.story.tree.go(game.address, place_in(game.home, game.address, where)))


def _takes(game: Game, _: str) -> None:
    story = game.home.story
    rows: list[dict[str, Any]] = []
    for take in story.tree.takes(game.address):
        first = story.messages.at(game.address, take.first)
        rows.append({"number": take.number, "current": take.current, "text": first.text if first else ""})
    shown = [(one["number"], "*" if one["current"] else "", one["text"][:80]) for one in rows]
    game.stage.tell("takes", {"takes": rows}, lambda: output.table(("take", "", "begins"), shown, right={0}))


def _take(game: Game, number: str) -> None:
    game.stand(game.home.story.tree.switch_take(game.address, _number(number, "take")))


def _why(game: Game, turn: str) -> None:
    newest = game.home.story.tree.newest_turn(game.address)
    wanted = _number(turn, "why") if turn else newest[-1].turn if newest else 0
    found = turn_decisions(game.home.story, game.address, wanted)
    told = [decision_json(game.home, game.address, one) for one in found]

    def show() -> None:
        for one in told:
            show_decided(one)

    game.stage.tell("why", {"turn": wanted, "decisions": told}, show)


def _recall(game: Game, text: str) -> None:
    told = dry_json(game.home, game.address, game.narrator.recall(game.address, text))
    game.stage.tell("recall", told, lambda: show_dry(told))


def _memory(game: Game, _: str) -> None:
    """Whatever the session's plugins keep, by what they declare."""
    session, records = game.session, game.home.story.records
    found: list[dict[str, Any]] = []
    for plugin in game.home.host.roster(session=session).working:
        for namespace in plugin.declared.data:
            scope = scope_of(namespace, session)
            newest = records.list(namespace, scope, order="newest", limit=_LINES)
            lines = [{"key": one.key, "text": excerpt(namespace, one.value)} for one in newest]
            found.append({"namespace": namespace.path, "count": records.count(namespace, scope), "newest": lines})

    def show() -> None:
        for one in found:
            output.say(f"{one['namespace']}  {one['count']:,}", bold=True)
            for line in one["newest"]:
                output.say(f"  {terminal_line(line['key'])}: {line['text']}")
            if more := one["count"] - len(one["newest"]):
                output.say(f"  and {more:,} more; talekeeper data list {one['namespace']} shows all", dim=True)
        if not found:
            output.note("no plugin of this session stores anything")

    game.stage.tell("memory", {"namespaces": found}, show)


def _search(game: Game, words: str) -> None:
    answer = search_memory(game.home.services, game.address, read_question({"query": words}))
    game.stage.tell("search", answer.as_json(), lambda: show_answer(answer, explain=False))


def _usage(game: Game, _: str) -> None:
    rows = usage_rows(game.home.story.turn_log.spent(game.address))
    game.stage.tell("usage", {"usage": rows}, lambda: show_usage(rows))


def _jobs(game: Game, _: str) -> None:
    waiting = game.jobs_waiting()

    def show() -> None:
        for reason, paths in waiting.items():
            output.say(f"{', '.join(paths)}: {reason}")
        if not waiting:
            output.say("all done")

    game.stage.tell("jobs", {"waiting": [{"jobs": paths, "reason": reason} for reason, paths in waiting.items()]}, show)


def _last(game: Game, count: str) -> None:
    wanted = _number(count, "last") if count else _LAST
    messages = game.home.story.messages.read(game.address, last=wanted)

    def show() -> None:
        for message in messages:
            show_message(message)

    game.stage.tell("last", {"messages": [message_json(message) for message in messages]}, show)


def _number(text: str, name: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < len(text) < 10 or (name != "why" and int(text) < 1):  # noqa: PLR2004 - digits of what the store holds
        raise ParameterError(f"/{name}", f"{text[:40]!r} is not a number here", cure=f"write {BY_NAME[name].usage}")
    return int(text)


COMMANDS = (
    Command("help", "", "List these commands.", _help),
    Command("continue", "", "Continue the story, or send your last line again.", _continue),
    Command("retry", "", "Answer the newest turn again.", _retry),
    Command("undo", "", "Go back one turn; nothing is lost.", _undo),
    Command("redo", "", "Undo the last undo or retry.", _redo),
    Command("takes", "", "List the answers to the newest turn.", _takes),
    Command("take", "N", "Go to another answer, by its number.", _take),
    Command("fork", "[NAME]", "Start a branch here.", _fork),
    Command("branches", "", "List the branches.", _branches),
    Command("go", "PLACE", "Go to a branch by name or number, or to BRANCH:DEPTH.", _go),
    Command("narrator", "TEXT", "Write the narration yourself.", _narrator),
    Command("last", "[N]", "Show the last messages.", _last),
    Command("why", "[TURN]", "Explain what a turn's prompt contained.", _why),
    Command("recall", "TEXT", "Show what a turn with this text would recall.", _recall),
    Command("memory", "", "Show what plugins have stored.", _memory),
    Command("search", "WORDS", "Search story and records.", _search),
    Command("usage", "", "Show how many tokens models used.", _usage),
    Command("jobs", "", "Show unfinished jobs, and why they wait.", _jobs),
    Command("quit", "", "Leave; the story is kept.", _quit),
)
BY_NAME = {one.name: one for one in COMMANDS}
