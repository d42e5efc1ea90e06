"""The commands of `talekeeper play`: one table, from which help, completion and dispatch come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from talekeeper.cli import output
from talekeeper.cli.commands.branches import branch_json, place_in, show_branches, show_takes, takes_of
from talekeeper.cli.commands.decisions import excerpt, explain_turn, recalled, show_decided, show_recalled
from talekeeper.cli.commands.search import show_answer
from talekeeper.cli.commands.usage import show_usage, usage_rows
from talekeeper.cli.play.game import Game
from talekeeper.cli.present import message_json, show_messages
from talekeeper.config import nearest
from talekeeper.errors import ParameterError
from talekeeper.memory_search import read_question, search_memory
from talekeeper.story import scope_of
from talekeeper.text import terminal_line

_LINES = 3
_LAST = 4


@dataclass(frozen=True, slots=True)
class Command:
    """`argument` is as help shows it; in brackets it may be left out, empty there is none. `run` gets it as typed."""

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


def _fork(game: Game, name: str) -> None:
    game.stand(game.tree.fork(game.address, name=name))


def _go(game: Game, where: str) -> None:
    game.stand(game.tree.go(game.address, place_in(game.home, game.address, where)))


def _take(game: Game, number: str) -> None:
    game.stand(game.tree.switch_take(game.address, _number(number, "take")))


def _branches(game: Game, _: str) -> None:
    head, found = game.session.head, game.tree.branches(game.address)
    data = {"branches": [{**branch_json(one), "here": one.id == head.branch} for one in found]}
    game.stage.tell("branches", data, lambda: show_branches(found, head))


def _takes(game: Game, _: str) -> None:
    found = takes_of(game.home, game.address)
    data = {"takes": [{name: take[name] for name in ("number", "current", "text")} for take in found]}
    game.stage.tell("takes", data, lambda: show_takes(found))


def _why(game: Game, turn: str) -> None:
    wanted, told = explain_turn(game.home, game.address, _number(turn, "why") if turn else None)

    def show() -> None:
        for one in told:
            show_decided(one)

    game.stage.tell("why", {"turn": wanted, "decisions": told}, show)


def _recall(game: Game, text: str) -> None:
    told = recalled(game.home, game.narrator, game.address, text)
    game.stage.tell("recall", told, lambda: show_recalled(told))


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
    messages = game.home.story.messages.read(game.address, last=_number(count, "last") if count else _LAST)
    data = {"messages": [message_json(message) for message in messages]}
    game.stage.tell("last", data, lambda: show_messages(messages))


def _number(text: str, name: str) -> int:
    if not text.isascii() or not text.isdigit() or not 0 < len(text) < 10 or (name != "why" and int(text) < 1):  # noqa: PLR2004 - digits of what the store holds
        raise ParameterError(f"/{name}", f"{text[:40]!r} is not a number here", cure=f"write {BY_NAME[name].usage}")
    return int(text)


COMMANDS = (
    Command("help", "", "List these commands.", _help),
    Command("continue", "", "Continue the story, or send your last line again.", lambda game, _: game.say(None)),
    Command("retry", "", "Answer the newest turn again.", lambda game, _: game.retry()),
    Command("undo", "", "Go back one turn; nothing is lost.", lambda game, _: game.stand(game.tree.undo(game.address))),
    Command("redo", "", "Undo the last undo or retry.", lambda game, _: game.stand(game.tree.redo(game.address))),
    Command("takes", "", "List the answers to the newest turn.", _takes),
    Command("take", "N", "Go to another answer, by its number.", _take),
    Command("fork", "[NAME]", "Start a branch here.", _fork),
    Command("branches", "", "List the branches.", _branches),
    Command("go", "PLACE", "Go to a branch by name or number, or to BRANCH:DEPTH.", _go),
    Command("narrator", "TEXT", "Write the narration yourself.", lambda game, text: game.by_hand(text)),
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
