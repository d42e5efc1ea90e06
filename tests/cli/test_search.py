"""`talekeeper search`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


def test_the_passage_comes_with_its_turn_its_speaker_and_its_source(told: Run) -> None:
    outcome = told("search", "who", "lost", "the", "brass", "key", "-n", "1")

    head, text = outcome.out.splitlines()
    assert outcome.code == 0
    assert head.startswith("1. turn 1 · Mira · recall")
    assert text == "   The ferryman lost the brass key under the old bridge."
    assert outcome.err == "harbour: 5 passages searched\n"


def test_json_is_the_tools_own_answer(told: Run) -> None:
    answer = told("search", "brass key", "--json").json

    assert answer["session"] == "harbour"
    assert answer["searched"] == 5
    assert {"source", "id", "turn", "speaker", "text", "score", "matched"} <= answer["results"][0].keys()


def test_the_time_of_an_imported_message_stands_after_its_turn(tk: Run, tmp_path: Path) -> None:
    line = {"session": "diary", "speaker": "Mira", "text": "The eels are gone.", "time": "2024-05-08T13:56:00Z"}
    (tmp_path / "diary.jsonl").write_text(json.dumps(line))
    tk("import", "diary.jsonl")

    outcome = tk("search", "eels", "-s", "diary")

    assert outcome.out.splitlines()[0].split(" · ")[:3] == ["1. turn 1", "2024-05-08 13:56", "Mira"]


def test_explain_shows_a_row_for_each_term(told: Run) -> None:
    outcome = told("search", "brass bridge", "-n", "1", "--explain")

    plain = told("search", "brass bridge", "-n", "1")

    head, *rows, placing = outcome.out.splitlines()[2:]
    assert head.split()[0] == "term"
    assert {row.split()[0] for row in rows} == {"brass", "bridg"}
    assert re.fullmatch(r" {3}\d+ terms long, [\d.]+ on average", placing)
    assert outcome.err.count("a score by words is the sum of what each word adds") == 1
    assert "a score by words" not in plain.err


def test_explain_says_what_filters_took_out_and_the_place_for_each_wording(told: Run) -> None:
    every = told("search", "bridge", "--json").json
    outcome = told("search", "bridge", "--wording", "brass", "--to", "1", "--explain", "-n", "1")
    document = told("search", "bridge", "--to", "1", "--explain", "--json").json

    assert "; place by wording: " in outcome.out
    assert f"left out: {every['searched'] - document['searched']} outside the turns asked" in outcome.err
    assert document["left_out"] == {"lineage": 0, "turns": every["searched"] - document["searched"], "running": 0}
    assert document["results"][0]["placing"]["ranks"] == [1]
    assert "left_out" not in every


def test_explained_results_of_several_sources_say_their_place_in_each(told: Run) -> None:
    told("data", "add", "lorebook/entries", "--key", "bridge", "--body", "A bridge of nine arches.")

    outcome = told("search", "bridge", "-n", "3", "--explain")
    heads = re.findall(r"^\d\. .*  (\d\. of its source), score [\d.]+$", outcome.out, re.MULTILINE)

    assert sorted(heads) == ["1. of its source", "1. of its source", "2. of its source"]
    assert "a score compares those of one source" in outcome.err


def test_a_workspace_that_is_misspelt_is_told_the_right_one(told: Run) -> None:
    refused = told("search", "bridge", "--workspace", "defualt")
    listed = told("sessions", "list", "--workspace", "defualt")

    assert (refused.code, listed.code) == (1, 0)
    assert refused.err == "talekeeper: the workspace 'defualt' has no sessions; did you mean 'default'?\n"
    assert listed.err == "the workspace 'defualt' has no sessions; did you mean 'default'?\n"


def test_turns_bound_what_is_found(told: Run) -> None:
    answer = told("search", "bridge", "--from", "2", "--json").json

    assert {hit["turn"] for hit in answer["results"]} == {2}


def test_wordings_are_asked_with_the_query(told: Run) -> None:
    answer = told("search", "rowing", "--wording", "ferryman", "--json").json

    assert answer["results"]


def test_nothing_found_says_so_and_why(told: Run) -> None:
    outcome = told("search", "zeppelin")

    assert (outcome.code, outcome.out) == (0, "")
    assert "words are matched, not meaning" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        pytest.param([], "Missing argument 'QUERY…' (or --wording TEXT): say what", id="no query"),
        pytest.param([" "], "Invalid value for 'QUERY…': it is empty; name people", id="blanks"),
        pytest.param(["x" * 1001], "Invalid value for 'QUERY…': it has 1,001 characters", id="a query too long"),
        pytest.param(["x", "--wording", ""], "Invalid value for '--wording': it is empty", id="an empty wording"),
        pytest.param(["x", *["--wording", "y"] * 6], "Invalid value for '--wording': it has 6", id="many wordings"),
        pytest.param(["x", "--limit", "21"], "Invalid value for '-n' / '--limit': 21", id="limit"),
        pytest.param(["x", "--limit", "0"], "Invalid value for '-n' / '--limit': 0", id="no results"),
        pytest.param(["x", "--scope", "foo"], "Invalid value for '--scope': 'foo'", id="scope"),
        pytest.param(["x", "--from", "-1"], "Invalid value for '--from': -1", id="a turn before the first"),
        pytest.param(["x", "--from", "3", "--to", "2"], "Invalid value for '--to': it is 2,", id="crossed turns"),
    ],
)
def test_a_bad_argument_is_a_fault_of_the_command_line_that_names_it(
    told: Run, arguments: list[str], sentence: str
) -> None:
    outcome = told("search", *arguments)

    assert outcome.code == 2
    assert outcome.err.splitlines()[-1].startswith(f"Error: {sentence}")


def test_a_session_that_is_not_there_is_told_with_the_nearest(told: Run) -> None:
    outcome = told("search", "x", "-s", "harbor")

    assert outcome.code == 1
    assert outcome.err.startswith("talekeeper: default: there is no session 'harbor'; did you")
    assert outcome.err.count("\n") == 1


def test_the_source_that_a_result_prints_can_be_asked_for(told: Run) -> None:
    told("data", "add", "lorebook/entries", "--key", "b", "--name", "The bridge", "--body", "A bridge of nine arches.")
    printed = told("search", "arches").out.splitlines()[0].rpartition(" · ")[2]

    named = told("search", "bridge", "--source", printed)
    misspelt = told("search", "bridge", "--source", "lorebok/entries")

    assert printed == "archival:plugin_data lorebook/entries"
    assert "nine arches" in named.out
    assert 'did you mean "lorebook/entries"? there are recall, lorebook/entries' in misspelt.err


def test_without_a_session_there_is_a_next_step(tk: Run) -> None:
    outcome = tk("search", "anything")

    assert outcome.code == 1
    assert "talekeeper import FILE" in outcome.err
