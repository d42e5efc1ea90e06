"""How well recorded facts are recalled into a prompt, and how often one that has nothing to do with it.

    python scripts/eval_recall.py FOLDER                the thresholds as they are set by default
    python scripts/eval_recall.py FOLDER --sweep        each threshold varied, the others at their default
    python scripts/eval_recall.py FOLDER --first 5      a story that has only begun: the first five facts of each
    python scripts/eval_recall.py FOLDER --probes       also every everyday message that calls something up, and what

FOLDER is a question set with `queries.jsonl` and `facts.jsonl`; a fact has `session`, `text`, `kind` and `evidence`,
the ids of what it was taken from, and is relevant to a question that has one of them as its evidence. The facts of each
conversation are recorded as facts of a story of its own, and its questions asked as the player's messages. Two kinds
of message should call up nothing: questions about another conversation, and everyday messages, English and Chinese.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from talekeeper.api import MessageView, TurnView
from talekeeper.plugin_context import Bound, CallContext, Lifetime
from talekeeper.story import ROOT, Address
from talekeeper.testing import Host
from talekeeper_memory.recall import recalled_facts

PROBES = Path(__file__).with_name("everyday_messages.txt")
BEST = 5
SWEEP: Mapping[str, Sequence[float]] = {
    "recall_coverage": (0.0, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5),
    "recall_share": (0.0, 0.1, 0.15, 0.2, 0.25, 0.35),
    "recall_rare_share": (0.0, 0.005, 0.01, 0.02, 0.05, 0.1),
    "recall_rare_facts": (1, 50, 200, 1000),
    "recall_facts": (1, 3, 5, 8, 12),
}


@dataclass(frozen=True, slots=True)
class GoldQuestion:
    """A question and the evidence it has in its conversation."""

    text: str
    evidence: frozenset[str]
    category: str


@dataclass(slots=True)
class Conversation:
    """The facts of one conversation, its speakers, and what is asked about it."""

    name: str
    facts: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    questions: list[GoldQuestion] = field(default_factory=list[GoldQuestion])

    @property
    def speakers(self) -> list[str]:
        """In order of appearance; the first plays the player."""
        return list(dict.fromkeys(str(fact["speaker"]) for fact in self.facts if fact.get("speaker")))


@dataclass(slots=True)
class Tally:
    """What became of the messages asked with one setting."""

    asked: int = 0
    answerable: int = 0
    found: float = 0.0
    hit: int = 0
    silent: int = 0
    beside: int = 0
    foreign: int = 0
    foreign_recalled: int = 0
    everyday: int = 0
    everyday_recalled: int = 0

    def row(self) -> str:
        """One line of the table."""
        return (
            f"{self.found / max(1, self.answerable):8.3f} {self.hit / max(1, self.answerable):6.3f} "
            f"{self.silent / max(1, self.asked):7.3f} {self.beside / max(1, self.asked):11.3f} "
            f"{self.foreign_recalled / max(1, self.foreign):8.3f} {self.everyday_recalled:4}/{self.everyday}"
        )


HEADER = f"{'':28} {'recall@5':>8} {'any':>6} {'silent':>7} {'irrelevant':>11} {'foreign':>8} everyday"


def main() -> int:
    """Prints a table, one line a setting."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sweep", action="store_true", help="vary each threshold")
    parser.add_argument("--probes", action="store_true", help="show what everyday messages call up")
    parser.add_argument("--cards", action="store_true", help="give the second speaker of a conversation a card")
    parser.add_argument("--first", type=int, metavar="N", help="record only the first N facts of a conversation")
    given = parser.parse_args()
    conversations = read(given.folder)
    for one in conversations:
        one.facts = one.facts[: given.first]
    with tempfile.TemporaryDirectory() as folder, Host(Path(folder), strict=True) as host:
        host.add(Path(__file__).parents[1] / "plugins" / "memory" / "talekeeper_memory")
        texts = fill(host, conversations, cards=given.cards)
        print(HEADER)
        print(f"{'defaults':28} {measure(host, conversations, texts, show=given.probes).row()}", flush=True)
        for key, values in SWEEP.items() if given.sweep else ():
            for value in values:
                host.configure(f"memory/{key}", value)
                print(f"{f'{key} = {value:g}':28} {measure(host, conversations, texts).row()}", flush=True)
            host.configure(f"memory/{key}", None)
    return 0


def read(folder: Path) -> list[Conversation]:
    """The conversations of a set, by name."""
    found: dict[str, Conversation] = {}
    for row in _rows(folder / "facts.jsonl"):
        if row["kind"] == "fact":
            found.setdefault(row["session"], Conversation(row["session"])).facts.append(row)
    for row in _rows(folder / "queries.jsonl"):
        if row["session"] in found:
            asked = GoldQuestion(row["question"], frozenset(row["evidence"]), row.get("category", ""))
            found[row["session"]].questions.append(asked)
    return sorted(found.values(), key=lambda one: one.name)


def fill(host: Host, conversations: Iterable[Conversation], *, cards: bool) -> dict[str, dict[str, frozenset[str]]]:
    """A story for each conversation; gives by its name the evidence of every recorded fact, by key."""
    evidence: dict[str, dict[str, frozenset[str]]] = {}
    for one in conversations:
        host.session(one.name)
        host.tell("Hello.", speaker=one.speakers[0], role="player")
        if cards:
            host.records("cards", {name: _card(name) for name in one.speakers[1:2]})
        records = host.records("facts", [{"text": fact["text"]} for fact in one.facts])
        by_text: dict[str, set[str]] = defaultdict(set)
        for fact in one.facts:
            by_text[fact["text"]].update(fact["evidence"])
        evidence[one.name] = {record.key: frozenset(by_text[str(record.value["text"])]) for record in records}
    return evidence


def measure(
    host: Host,
    conversations: Sequence[Conversation],
    evidence: Mapping[str, Mapping[str, frozenset[str]]],
    *,
    show: bool = False,
) -> Tally:
    """Asks everything in every conversation."""
    tally = Tally()
    probes = [line for line in PROBES.read_text(encoding="utf-8").splitlines() if line.strip()]
    for number, one in enumerate(conversations):
        ctx = context(host, one.name)
        known = evidence[one.name]
        for asked in one.questions:
            relevant = {key for key, taken_from in known.items() if taken_from & asked.evidence}
            _count(tally, recalled(ctx, asked.text), relevant)
        other = conversations[(number + 1) % len(conversations)]
        for asked in other.questions:
            tally.foreign += 1
            tally.foreign_recalled += bool(recalled(ctx, asked.text))
        for probe in probes:
            taken = recalled(ctx, probe)
            tally.everyday += 1
            tally.everyday_recalled += bool(taken)
            if taken and show:
                print(f"{one.name}: {probe!r} calls up {[_text(ctx, key) for key in taken]}")
    return tally


def context(host: Host, name: str) -> CallContext:
    """What the segment is called with in a turn of that story."""
    # A segment without its turn is nothing that the kit offers.
    services = host._services  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  # as said above
    session = services.story.sessions.get(Address("test", host.session(name).id))
    plugin = services.host.roster(session=session).by_id["memory"]
    return CallContext(Bound(services, plugin, session, Lifetime(plugin.id)))


def recalled(ctx: CallContext, text: str) -> list[str]:
    """The keys of the facts that the message calls up."""
    message = MessageView("", ROOT, 0, 1000, "player", "say", "", text, None, "typed")
    view = TurnView(1000, ROOT, message, 1000, "en", dry_run=True)
    return [line.id for line in recalled_facts(ctx, view).lines]


def _count(tally: Tally, taken: Sequence[str], relevant: set[str]) -> None:
    tally.asked += 1
    tally.silent += not taken
    tally.beside += bool(taken) and not relevant & set(taken)
    if relevant:
        found = len(relevant & set(taken[:BEST]))
        tally.answerable += 1
        tally.found += found / min(len(relevant), BEST)
        tally.hit += bool(found)


def _card(name: str) -> dict[str, Any]:
    return {"name": name, "kind": "character", "keys": [name], "body": f"{name} is somebody in this story."}


def _text(ctx: CallContext, key: str) -> str:
    record = ctx.data["facts"].get(key)
    return str(record.value["text"]) if record else key


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


if __name__ == "__main__":
    sys.exit(main())
