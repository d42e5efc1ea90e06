"""Sessions, messages and records as commands show them, for people and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import click

from talekeeper.cli import output
from talekeeper.cli.options import Common
from talekeeper.text import counted, terminal_line

if TYPE_CHECKING:
    from talekeeper.story import Coordinate, Message, Record, Session


def place(at: Coordinate) -> str:
    """A coordinate as `BRANCH:DEPTH`."""
    return f"{at.branch}:{at.depth}"


def minute(moment: str) -> str:
    """A stored moment to the minute, in UTC, as people write it."""
    return moment[:16].replace("T", " ")


def session_json(session: Session) -> dict[str, Any]:
    """A session as `--json` prints it."""
    return {
        "workspace": session.workspace,
        "id": session.id,
        "title": session.title,
        "messages": session.messages,
        "branches": session.branches,
        "head": place(session.head),
        "plugins": session.plugins,
        "preset": session.preset,
        "locale": session.locale,
        "created": session.created,
        "updated": session.updated,
    }


def session_facts(session: Session) -> str:
    """The line under a session's title."""
    plugins = ", ".join(session.plugins) or "none"
    size = f"{counted(session.messages, 'message')} on {counted(session.branches, 'branch')}"
    return f"{size}, head at {place(session.head)}; plugins: {plugins}"


def message_json(message: Message) -> dict[str, Any]:
    """A message as `--json` prints it."""
    return {
        "id": message.id,
        "ref": message.ref,
        "place": place(message.coordinate),
        "turn": message.turn,
        "role": message.role,
        "speaker": message.speaker,
        "text": message.text,
        "time": message.time,
        "revision": message.revision,
        "hidden": message.hidden,
    }


def show_messages(messages: Iterable[Message]) -> None:
    """Each message under a line that says who, when and where."""
    for message in messages:
        marks = [f"turn {message.turn}", place(message.coordinate), message.id]
        marks += [message.time] if message.time else []
        marks += ["hidden"] if message.hidden else []
        who = terminal_line(message.speaker or message.role)
        click.echo(f"\n{click.style(who, bold=True)}  {click.style(terminal_line(' · '.join(marks)), dim=True)}")
        output.say(message.text)


def record_json(record: Record) -> dict[str, Any]:
    """A record's version as `--json` prints it."""
    return {
        "plugin": record.plugin,
        "namespace": record.namespace,
        "key": record.key,
        "value": record.value,
        "revision": record.revision,
        "place": place(record.coordinate),
        "turn": record.turn if record.turn >= 0 else None,
        "on_every_branch": record.person,
        "withdrawn": record.withdrawn,
        "forgotten": record.forgotten,
        "created": record.created,
    }


def show_record(record: Record) -> None:
    """A record's version: its key and marks, then its properties, a line each."""
    marks = [f"revision {record.revision}", minute(record.created)]
    marks += [f"turn {record.turn}"] if record.turn >= 0 else []
    marks += ["on every branch"] if record.person else []
    marks += ["forgotten"] if record.forgotten else ["withdrawn"] if record.withdrawn else []
    click.echo(f"{click.style(terminal_line(record.key), bold=True)}  {click.style(' · '.join(marks), dim=True)}")
    if record.value is not None:
        for name, value in dict[str, Any](record.value).items():
            output.say(f"  {name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}")


def tell(options: Common, sentence: str, data: Mapping[str, Any]) -> None:
    """The outcome of an act: one sentence, or the data as JSON."""
    if options.as_json:
        output.emit(data)
    else:
        output.say(sentence)
