"""A story with the memory plugin and a model in the process that does the plugin's work."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from talekeeper.api import Json, Record
from talekeeper.testing import Host, Recorded, Step, say, say_json

KINDS = {
    "You keep the memory": "extract",
    "你负责保管一个互动故事的记忆": "extract",
    "You write the memory": "memory",
    "你为一个互动故事写记忆": "memory",
    "You keep the running summary": "summary",
    "你保管一个互动故事的前情提要": "summary",
    "Shorten the text": "shorten",
    "把 <data>": "shorten",
}
Answer = str | Mapping[str, Json] | Callable[[Recorded], str | Mapping[str, Json]]


@dataclass
class Scribe:
    """Answers what the plugin asks, by the kind of question; `asked` counts the questions.

    An answer is a text, an object to send as JSON, or a function of the request; a list of them is gone through, its
    last one staying.
    """

    answers: dict[str, Any] = field(default_factory=lambda: dict(QUIET))
    asked: Counter[str] = field(default_factory=Counter[str])
    requests: dict[str, list[Recorded]] = field(default_factory=dict[str, list[Recorded]])

    def __call__(self, request: Recorded) -> Step:
        system = str(request.body["messages"][0]["content"])
        kind = next(name for begin, name in KINDS.items() if system.startswith(begin))
        self.asked[kind] += 1
        self.requests.setdefault(kind, []).append(request)
        answer: Any = self.answers[kind]
        if hasattr(answer, "append"):
            answer = answer.pop(0) if len(answer) > 1 else answer[0]
        if callable(answer):
            answer = answer(request)
        return say(answer) if isinstance(answer, str) else say_json(answer)

    def prompt(self, kind: str) -> str:
        """The newest question of a kind, all its messages."""
        return self.requests[kind][-1].prompt


QUIET: Mapping[str, Answer] = {
    "extract": {},
    "memory": "Somebody did something.",
    "summary": "The story began.",
    "shorten": "Shorter.",
}


@dataclass
class Story:
    """A host with the plugin, and the scribe its jobs ask."""

    host: Host
    scribe: Scribe = field(default_factory=Scribe)

    def play(self, text: str | None = "I go on.", *, reply: str = "The story goes on.") -> dict[str, Any]:
        """A turn and its jobs; gives the jobs by kind."""
        self.host.turn(text, reply=reply)
        return self.work()

    def work(self) -> dict[str, Any]:
        """Runs what is due."""
        return {job.kind: job for job in self.host.run_jobs(self.scribe)}

    def fill(self, messages: int, text: str = "Message {at}.") -> None:
        """Tells so many messages, player and narrator in turn, without jobs."""
        for at in range(messages):
            self.host.tell(text.format(at=at), role="narrator" if at % 2 else "player")

    def values(self, namespace: str) -> list[Mapping[str, Json]]:
        """What is live here, oldest first."""
        return [record.value for record in self.records(namespace)]

    def records(self, namespace: str) -> tuple[Record, ...]:
        """The live records of one of the plugin's namespaces."""
        return self.host.records(f"memory/{namespace}")

    def shown(self, text: str, segment: str) -> list[Mapping[str, Json]]:
        """The lines a segment would show in a turn with this text."""
        decided = [one for one in self.host.recall(text).decided if one.segment == segment]
        return [json.loads(line) for one in decided for line in one.text.splitlines() if line.startswith("{")]

    def considered(self, text: str, segment: str) -> dict[str, Mapping[str, Json]]:
        """What a turn with this text would say of each candidate, by key."""
        decided = [one for one in self.host.recall(text).decided if one.segment == segment]
        return {one["id"]: one for each in decided for one in each.document.get("considered", ())}

    def prompt(self, text: str = "I look for it.") -> str:
        """All that a turn with this text would show of the plugin."""
        return "\n".join(one.text for one in self.host.recall(text).decided if one.plugin == "memory")


@pytest.fixture
def make_story(tmp_path: Path) -> Iterator[Callable[..., Story]]:
    """`make_story(locale="zh", player={…})`: a story of its own, with what the scribe answers by kind."""
    hosts: list[Host] = []

    def make(*, locale: str = "en", **answers: Any) -> Story:
        host = Host(tmp_path / str(len(hosts)))
        hosts.append(host)
        with_plugin(host)
        host.session(locale=locale)
        return Story(host, Scribe({**QUIET, **answers}))

    yield make
    for host in hosts:
        host.close()


@pytest.fixture
def story(make_story: Callable[..., Story]) -> Story:
    """A story in English whose scribe has nothing to say."""
    return make_story()


def with_plugin(host: Host) -> None:
    """Adds the package as it lies there."""
    host.add("memory")
