"""A world file becomes a session with all that it says, or one sentence with the line that is at fault."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from talekeeper.errors import Conflict, ImportFileError, NotFound, TalekeeperError
from talekeeper.home import Home
from talekeeper.memory_search import read_question, search_memory
from talekeeper.story import Scope, scope_of
from talekeeper.worlds import begin_story, read_world

Write = Callable[[str], str]

WORLD = """
title = "The Salt Lantern"
locale = "en"
persona = "A letter carrier."
author_note = "Quiet."
narrator = "The Ferryman"
opening = "The ferry has turned back."

[player]
name = "Ines"
age = 31

[plugin.ledger.entries.maud]
body = "Maud keeps the inn."
weight = 3

[[plugin.ledger.rules]]
body = "Nobody knocks thrice."
"""

FAULTS = [
    ("titel = 'x'", 1, 'did you mean "title"?'),
    ("title = 'x'\ntitle = 'y'", 2, "stands in the same table before"),
    ("title = 3", 1, "title: must be text"),
    ("preset = ' x'", 1, "blanks around it"),
    ("opening = [\n'a']", 1, "opening: must be text"),
    ("narrator = 3", 1, "narrator: must be text"),
    ("player = 'Ines'", 1, "player: must be a table"),
    ("[player]\nage = 3", 1, "the player has no name"),
    ("[player]\nname = 'a'\nlikes = ['tea']", 3, "likes of the player is text or a number"),
    ("plugin = 3", 1, "plugin: must be a table"),
    ("[plugin]\nledger = 3", 2, "plugin.ledger is a table"),
    ("[plugin.ledger]\nentries = 3", 2, "plugin.ledger.entries is a table"),
    ("[plugin.ledger.entries]\nmaud = 'an innkeeper'", 2, "write [plugin.ledger.entries.maud]"),
    ("[plugin.ledger]\nentries = ['a']", 2, "write [[plugin.ledger.entries]]"),
    ("\n[plugin.legder.entries.a]\nbody = 'b'", 2, "there is no plugin 'legder'"),
    ("\n[plugin.ledger.entreis.a]\nbody = 'b'", 2, "there is no namespace 'ledger/entreis'"),
    ("[plugin.ledger.entries.a]\nbody = 'b'\nwieght = 3", 3, 'did you mean "weight"?'),
    ("[[plugin.ledger.entries]]\nbody = 'b'\nmood = 3", 3, "see the record schema of ledger/entries"),
    ("[plugin.ledger.entries.a]\nweight = 3", 1, "body"),
    ("[plugin.ledger.entries.a]\nbody = 'b'\n\nweight = 'heavy'", 4, "ledger/entries/weight"),
    ("[plugin.ledger.entries.a]\nbody = 'b'\ntags = [\n'c',\n3]", 5, "ledger/entries/tags/1"),
    ("[plugin.ledger.entries.a]\nbody = 'b'\nweight = 1979-05-27", 3, "date"),
    ("[plugin.ledger.entries.' a']\nbody = 'b'", 1, "blanks around it"),
    ('[plugin.ledger.entries.a]\nbody = "b\\u0000"', 1, "ledger/entries"),
    (
        "".join(f"[[plugin.ledger.entries]]\nbody = '{body}'\n" for body in "bcde"),
        7,
        "ledger/entries: it holds 3 records",
    ),
]


def test_a_world_becomes_a_session(home: Home, write: Write) -> None:
    begun = begin_story(home, "w", read_world(write(WORLD)), session_id="s")

    session = begun.session
    (opening,) = home.story.messages.read(session.address)
    assert (session.id, session.title, session.locale, begun.records) == ("s", "The Salt Lantern", "en", 2)
    given = {
        "player": {"name": "Ines", "age": 31},
        "narrator_name": "The Ferryman",
        "persona": "A letter carrier.",
        "author_note": "Quiet.",
    }
    assert dict(session.settings) == {**given, "world": given}
    assert (opening.role, opening.turn, opening.text) == ("narrator", 0, "The ferry has turned back.")
    assert opening.speaker == "The Ferryman"
    entries = home.host.namespace("ledger/entries")
    written = home.story.records.get(entries, scope_of(entries, session), "maud")
    assert written is not None
    assert (written.value, written.person) == ({"body": "Maud keeps the inn.", "weight": 3}, True)
    assert (
        search_memory(home.services, session.address, read_question({"query": "Maud"})).as_json()["results"][0]["id"]
        == "maud"
    )


def test_an_empty_world_is_an_empty_session(home: Home, write: Write) -> None:
    session = begin_story(home, "w", read_world(write(""))).session

    assert (session.messages, session.title, session.locale) == (0, "", "en")


def test_what_is_asked_for_counts_before_what_the_world_says(home: Home, write: Write) -> None:
    folder = home.folder / "presets"
    folder.mkdir()
    (folder / "noir.toml").write_text("plugins = []")

    session = begin_story(home, "w", read_world(write('title = "a"')), title="b", preset="noir").session

    assert (session.title, session.preset, session.plugins) == ("b", "noir", ())


@pytest.mark.parametrize(("text", "line", "said"), FAULTS, ids=[text[:40] for text, _, _ in FAULTS])
def test_what_is_wrong_is_one_sentence_with_its_line(home: Home, write: Write, text: str, line: int, said: str) -> None:
    file = write(text)

    with pytest.raises(ImportFileError) as caught:
        begin_story(home, "w", read_world(file))

    assert str(caught.value).startswith(f"{file}:{line}: ")
    assert said in str(caught.value)
    assert home.story.sessions.all("w") == []


def test_a_plugin_that_is_off_is_told_with_its_line(home: Home, write: Write) -> None:
    home.host.disable("ledger")

    with pytest.raises(ImportFileError, match=r":13: the plugin 'ledger' is disabled"):
        begin_story(home, "w", read_world(write(WORLD)))


def test_a_plugin_the_preset_leaves_out_is_told_with_its_line(home: Home, write: Write) -> None:
    (home.folder / "presets").mkdir()
    (home.folder / "presets" / "bare.toml").write_text("plugins = []")

    with pytest.raises(ImportFileError, match=r":13: the plugin 'ledger' is none of the preset's"):
        begin_story(home, "w", read_world(write(WORLD)), preset="bare")


def test_a_preset_that_is_not_there_makes_no_session(home: Home, write: Write) -> None:
    with pytest.raises(NotFound, match="there is no preset 'noir'"):
        begin_story(home, "w", read_world(write('preset = "noir"')))

    assert home.story.sessions.all("w") == []


def test_a_taken_id_leaves_the_session_that_has_it(home: Home, write: Write) -> None:
    world = read_world(write(WORLD))
    begin_story(home, "w", world, session_id="s")

    with pytest.raises(Conflict):
        begin_story(home, "w", world, session_id="s")

    assert [session.id for session in home.story.sessions.all("w")] == ["s"]


def test_records_of_the_workspace_are_written_once_and_a_changed_one_stays(home: Home, write: Write) -> None:
    world = '[[plugin.ledger.rules]]\nbody = "a"\n[plugin.ledger.entries.k]\nbody = "c"\n'
    keyed = '[plugin.ledger.rules.first]\nbody = "{}"\n'

    begun = [
        begin_story(home, "w", read_world(write(text))) for text in (world, world, keyed.format(1), keyed.format(2))
    ]

    rules = home.host.namespace("ledger/rules")
    texts = [record.value["body"] for record in home.story.records.list(rules, Scope("w"))]
    assert texts == ["a", "1"]
    assert [one.kept for one in begun] == [(), (), (), ("ledger/rules/first",)]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(raw=st.binary(max_size=60) | st.text(alphabet='[]plugin.="a\n{}, ledger\u2028', max_size=80).map(str.encode))
def test_no_bytes_raise_anything_but_a_sentence(tmp_path: Path, raw: bytes) -> None:
    file = tmp_path / "w.toml"
    file.write_bytes(raw)

    said = ""
    try:
        read_world(str(file))
    except TalekeeperError as fault:
        said = str(fault)

    assert not said or said.startswith(f"{file}:")


@pytest.mark.parametrize("file", sorted((Path(__file__).parents[2] / "examples" / "worlds").glob("*.toml")))
def test_the_worlds_that_come_with_the_documentation_can_be_played(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TALEKEEPER_PLUGINS", raising=False)
    with Home.open(tmp_path / "home", tracing=False) as home:
        begun = begin_story(home, "w", read_world(str(file)))

        assert begun.records == len(read_world(str(file)).entries) > 2
        assert begun.session.messages == 1
