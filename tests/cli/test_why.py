"""`why`, `recall` and `usage` after turns told by a scripted narrator."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from talekeeper.cli.commands.decisions import excerpt, with_texts
from talekeeper.home import Home
from talekeeper.manifest import Namespace, SearchTable
from talekeeper.models import BILLION
from talekeeper.story import Address
from talekeeper.testing import ScriptedServer, call_tool, say

Run = Callable[..., Any]


@pytest.fixture
def played(tk: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """`tk` with a session of two turns, the second with two takes."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"I knock.\nI wait.\n/retry\n")))
    steps = [call_tool("memory-search", {"query": "door"}), say("It opens."), say("Nothing."), say("A sound.")]
    with ScriptedServer(steps) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert tk("play").code == 0
    return tk


def test_why_shows_the_decisions_of_a_turn(played: Run) -> None:
    told = played("why", "story", "2", "--json").json

    (history,) = told["decisions"]
    assert (told["session"], told["turn"], history["segment"]) == ("story", 2, "history")
    assert history["messages"] == 3
    assert "from turn 0 on: 3 messages" in played("why", "story", "2").out


def test_why_knows_other_takes_and_single_decisions(played: Run) -> None:
    every = played("why", "story", "2", "--all", "--json").json["decisions"]

    one = played("why", "story", "2", every[0]["id"], "--all", "--json").json["decisions"]

    assert len(every) == 2
    assert [decision["id"] for decision in one] == [every[0]["id"]]


@pytest.mark.parametrize("arguments", [[], ["story"]])
def test_why_without_a_turn_is_of_the_newest(played: Run, arguments: list[str]) -> None:
    newest = played("why", *arguments, "--json")

    assert newest.json == played("why", "story", "2", "--json").json


def test_why_of_a_turn_without_decisions_is_one_sentence(played: Run) -> None:
    outcome = played("why", "story", "9")

    assert outcome.code == 1
    assert "there is no record of a prompt of turn 9" in outcome.err


def test_recall_shows_and_counts_nothing(played: Run) -> None:
    before = played("sessions", "show", "story", "--json").json

    told = played("recall", "I", "open", "the door", "--json").json

    assert (told["turn"], told["decisions"][0]["messages"]) == (3, 5)
    assert "turn 3 of story would show" in played("recall", "I open the door").out
    assert played("sessions", "show", "story", "--json").json == before


def test_usage_counts_calls_and_tokens_by_session_and_slot(played: Run) -> None:
    every = played("usage", "--json").json["usage"]

    (row,) = every
    assert (row["session"], row["slot"], row["plugin"], row["calls"]) == ("story", "narrator", "", 4)
    assert row["prompt_tokens"] > 0
    assert "4 calls" in played("usage", "story").out


def test_usage_without_a_price_says_that_it_is_tokens_only(played: Run) -> None:
    outcome = played("usage", "story")

    assert "no price is configured" in outcome.err
    assert "cost" not in outcome.out
    assert played("usage", "--json").json["usage"][0]["cost"] is None


def test_a_call_costs_what_its_slots_price_was(tk: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer([say("It opens."), say("Nothing."), say("A sound.")]) as server:
        for line, price in (("I knock.", "2"), ("I wait.", "1000")):
            table = f'[models.narrator]\nbase_url = "{server.base_url}"\n'
            (home / "talekeeper.toml").write_text(f"{table}price = {{ prompt = {price}, completion = 0 }}\n")
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(f"{line}\n".encode())))
            assert tk("play").code == 0
        (home / "talekeeper.toml").write_text(table)
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"I listen.\n/usage\n")))
        said = tk("play").out

    with Home.open(home) as opened:
        spent = opened.story.turn_log.spent(Address("default", "story"))
    priced, free = tk("usage", "--json").json["usage"][1], tk("usage", "--json").json["usage"][0]
    first, second, third = spent
    assert (first.cost, second.cost, third.cost) == ((first.prompt or 0) * 2_000, (second.prompt or 0) * 10**6, None)
    assert (priced["calls"], priced["currency"], free["calls"], free["cost"]) == (2, "USD", 1, None)
    assert priced["cost"] == sum(use.cost or 0 for use in spent) / BILLION
    assert " USD" in said
    assert "no price" in said
    assert " USD" in tk("usage", "story").out


def test_usage_of_a_home_without_turns_says_so(told: Run) -> None:
    assert told("usage", "--json").json["usage"] == []
    assert "no model has been used" in told("usage").err


@pytest.mark.parametrize(
    ("search", "value", "said"),
    [
        (SearchTable(text=("body",)), {"name": "Mira", "body": "The\nferryman."}, "The ferryman."),
        (None, {"kind": "x", "text": "The longest of them."}, "The longest of them."),
        (None, {"count": 3}, ""),
        (None, {"text": "a" * 200}, "a" * 79 + "…"),
    ],
)
def test_an_excerpt_is_what_a_record_says(search: SearchTable | None, value: dict[str, Any], said: str) -> None:
    assert excerpt(Namespace("p", "n", search=search), value) == said


def test_a_candidate_that_no_record_stands_for_has_the_text_of_the_prompt(played: Run, home: Path) -> None:
    document = {"considered": [{"id": "profile", "source": "blocks"}, {"id": "gone", "source": "blocks"}]}
    prompt = '<records>\n{"id": "profile", "source": "blocks", "text": "Player: Ines"}\n</records>'

    with Home.open(home) as opened:
        told = with_texts(opened, Address("default", "story"), "memory", document, prompt)

    assert [one.get("text") for one in told["considered"]] == ["Player: Ines", None]
