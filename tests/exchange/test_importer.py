"""What an import leaves in the store."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from talekeeper.exchange import Options, Report, import_file, importer
from talekeeper.story import Address, Draft, Story

RunImport = Callable[..., Report]
LinesOf = Callable[..., str]

SHORT = Address("default", "s")


def turns(story: Story, session: str = "s") -> list[tuple[int, str]]:
    return [(message.turn, message.text) for message in story.messages.read(Address("default", session))]


def rows(count: int, **more: Any) -> list[dict[str, Any]]:
    return [{"id": f"m{i}", "session": "s", "speaker": "Mira", "text": f"line {i}", **more} for i in range(count)]


def test_messages_come_in_file_order_with_their_sessions(
    run_import: RunImport, story: Story, lines_of: LinesOf
) -> None:
    content = lines_of(
        {"id": "1", "session": "a", "text": "one"},
        {"id": "1", "session": "b", "text": "two"},
        {"id": "2", "session": "a", "text": "three"},
    )

    report = run_import(content)

    assert [(one.session, one.created, one.imported) for one in report.sessions.values()] == [
        ("a", True, 2),
        ("b", True, 1),
    ]
    assert [text for _, text in turns(story, "a")] == ["one", "three"]


@pytest.mark.parametrize(
    ("speakers", "names"),
    [
        (["user", "Mira", "user"], {"player": "user", "narrator": "Mira"}),
        (["Mira", "user", "Tom"], {"player": "user", "narrator": ""}),
        (["", "Mira"], {"narrator": "Mira"}),
        ([""], None),
    ],
    ids=["two", "several narrators", "no player", "nobody"],
)
@pytest.mark.parametrize("batch", [1, 512])
def test_a_session_keeps_the_names_it_was_imported_with(
    run_import: RunImport,
    story: Story,
    lines_of: LinesOf,
    monkeypatch: pytest.MonkeyPatch,
    speakers: list[str],
    names: dict[str, str] | None,
    batch: int,
) -> None:
    monkeypatch.setattr(importer, "_BATCH_MESSAGES", batch)

    run_import(lines_of(*({"session": "s", "speaker": one, "text": str(i)} for i, one in enumerate(speakers))))

    assert story.sessions.get(SHORT).settings.get("imported") == names


def test_a_turn_in_the_file_is_kept(run_import: RunImport, story: Story, lines_of: LinesOf) -> None:
    run_import(lines_of({"session": "s", "text": "a", "turn": 7}, {"session": "s", "text": "b", "turn": 9}))

    assert turns(story) == [(7, "a"), (9, "b")]


def test_a_player_opens_a_turn_and_what_stands_before_is_turn_0(
    run_import: RunImport, story: Story, lines_of: LinesOf
) -> None:
    speakers = ["Mira", "user", "Mira", "Tom", "user", "user", "Mira"]
    content = lines_of(*({"session": "s", "speaker": one, "text": str(i)} for i, one in enumerate(speakers)))

    run_import(content)

    assert [turn for turn, _ in turns(story)] == [0, 1, 1, 1, 2, 3, 3]


def test_without_a_player_every_message_is_its_own_turn_from_1(
    run_import: RunImport, story: Story, lines_of: LinesOf
) -> None:
    run_import(lines_of(*rows(4)))

    assert [turn for turn, _ in turns(story)] == [1, 2, 3, 4]


def test_the_named_player_opens_turns(run_import: RunImport, story: Story) -> None:
    run_import("Tom: a\nMira: b\nTom: c\n", "s.txt", player="Mira")

    assert turns(story) == [(0, "a"), (1, "b"), (1, "c")]


def test_a_player_who_does_not_speak_is_noted(run_import: RunImport) -> None:
    report = run_import("Tom: a\nMira: b\nTom: c\n", "s.txt", player="Nobody")

    assert report.notes == {"nobody is called 'Nobody', so nobody is the player": (1, 1)}


def test_lines_without_a_player_belong_to_the_turn_of_a_story_that_has_begun(
    run_import: RunImport, story: Story, lines_of: LinesOf
) -> None:
    run_import("user: a\nMira: b\nuser: c\n", "s.txt")

    run_import(lines_of({"id": "d", "speaker": "Mira", "text": "d"}), "s.jsonl")

    assert turns(story)[-2:] == [(2, "c"), (2, "d")]


def test_a_file_of_one_session_gives_it_its_name(run_import: RunImport, story: Story) -> None:
    report = run_import("Mira: a\n", "some/folder/My chat.txt")

    assert list(report.sessions) == ["My chat"]
    assert story.sessions.get(Address("default", "My chat")).title == "My chat"


def test_a_pipe_has_no_name_to_give(run_import: RunImport) -> None:
    report = run_import("Mira: a\n", "-")

    assert str(report.error) == "-:1: what comes through a pipe has no session's name; give one with --session NAME"


def test_the_session_option_wins_over_the_files_own(run_import: RunImport, story: Story, lines_of: LinesOf) -> None:
    run_import(lines_of(*rows(2)), session="other")

    assert len(turns(story, "other")) == 2


@pytest.mark.parametrize("kept", [0, 3, 7, 10], ids=lambda kept: f"{kept} lines before")
def test_a_second_run_takes_up_where_the_first_ended(
    run_import: RunImport, story: Story, lines_of: LinesOf, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    monkeypatch.setattr(importer, "_BATCH_MESSAGES", 4)
    content = lines_of(*rows(10))
    first = "".join(content.splitlines(keepends=True)[:kept]) + '{"id": "cut", "text": "o'

    before = run_import(first) if kept else None
    after = run_import(content)

    assert before is None or before.imported == kept
    assert (after.imported, after.already_there) == (10 - kept, kept)
    assert turns(story) == [(i + 1, f"line {i}") for i in range(10)]


def test_what_stands_before_a_bad_line_is_accepted(run_import: RunImport, story: Story, lines_of: LinesOf) -> None:
    report = run_import(lines_of(*rows(3)) + "{broken\n" + lines_of(*rows(5)))

    assert str(report.error).startswith("chat.txt:4: the line is not JSON")
    assert (report.imported, len(turns(story))) == (3, 3)


def test_a_ref_with_another_text_names_its_line_and_keeps_what_stands_before(
    run_import: RunImport, story: Story, lines_of: LinesOf
) -> None:
    first, second, third = rows(3)
    run_import(lines_of(second))

    report = run_import(lines_of(first, {**second, "text": "changed"}, third))

    assert str(report.error) == (
        "chat.txt:2: the message 'm1' is already there with another text; "
        "each message needs an id of its own; a file that was changed, or another of its name, "
        "can be another session, --session NAME"
    )
    assert [text for _, text in turns(story)] == ["line 1", "line 0"]


def test_a_ref_given_twice_in_one_file_is_the_same_fault(run_import: RunImport, lines_of: LinesOf) -> None:
    first, second = rows(2)

    report = run_import(lines_of(first, second, {**first, "text": "changed"}))

    assert str(report.error).startswith("chat.txt:3: the message 'm0' is already there with another text")
    assert (report.imported, report.sessions["s"].created) == (2, True)


def test_a_dry_run_finds_what_the_import_would_find_in_other_batches(
    run_import: RunImport, lines_of: LinesOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importer, "_BATCH_MESSAGES", 2)
    first, second, third, fourth = rows(4)
    content = lines_of(first, second, third, first, fourth, {**second, "text": "changed"})

    dry = run_import(content, dry_run=True)
    real = run_import(content)

    assert (str(dry.error), dry.imported, dry.already_there) == (str(real.error), 4, 1)
    assert (real.imported, real.already_there) == (4, 1)


@pytest.mark.parametrize(
    "options",
    [{"session": "x" * 300}, {"session": " "}, {"locale": ""}],
    ids=["too long a name", "a blank name", "no locale"],
)
def test_a_session_that_cannot_be_made_is_refused_with_the_reason_and_counts_nothing(
    run_import: RunImport, story: Story, lines_of: LinesOf, options: dict[str, str]
) -> None:
    report = run_import(lines_of(*rows(2)), **options)

    assert str(report.error).startswith(f"chat.txt:1: {next(iter(options))}: ")
    assert report.sessions == {}
    assert story.workspaces.all() == []


def test_a_ref_given_twice_with_the_same_text_is_one_message(run_import: RunImport, lines_of: LinesOf) -> None:
    (row,) = rows(1)

    report = run_import(lines_of(row, row))

    assert (report.imported, report.error) == (1, None)


def test_a_text_edited_here_does_not_stand_in_the_way(run_import: RunImport, story: Story, lines_of: LinesOf) -> None:
    content = lines_of(*rows(3))
    run_import(content)
    story.messages.edit(SHORT, story.messages.read(SHORT)[1].id, "edited here")

    report = run_import(content)

    assert (report.imported, report.already_there, report.error) == (0, 3, None)


def test_a_dry_run_counts_and_leaves_nothing(run_import: RunImport, story: Story, lines_of: LinesOf) -> None:
    run_import(lines_of(*rows(2)))

    report = run_import(lines_of(*rows(5), {"session": "new", "text": "x"}), dry_run=True)

    assert (report.dry_run, report.imported, report.already_there) == (True, 4, 2)
    assert report.session("new").created
    assert [one.id for one in story.sessions.all("default")] == ["s"]
    assert len(turns(story)) == 2


def test_a_dry_run_finds_the_line_that_does_not_fit(run_import: RunImport, lines_of: LinesOf) -> None:
    run_import(lines_of(*rows(2)))

    report = run_import(lines_of(*rows(1), {"id": "m1", "session": "s", "text": "changed"}), dry_run=True)

    assert str(report.error).startswith("chat.txt:2: the message 'm1' is already there")


def chat(*messages: dict[str, Any]) -> str:
    return "".join(json.dumps(line) + "\n" for line in ({"user_name": "Ann", "character_name": "Mira"}, *messages))


ASK = {"name": "Ann", "is_user": True, "mes": "ask"}
ANSWER = {"name": "Mira", "is_user": False, "mes": "two", "swipes": ["one", "two"], "swipe_id": 1}


def test_swipes_are_takes_beside_the_chosen_one(run_import: RunImport, story: Story) -> None:
    run_import(chat(ASK, ANSWER), "s.jsonl")

    assert turns(story) == [(1, "ask"), (1, "two")]
    texts = [(story.messages.at(SHORT, take.tip), take.current) for take in story.tree.takes(SHORT)]
    assert [(message.text if message else None, current) for message, current in texts] == [
        ("two", True),
        ("one", False),
    ]


def test_a_chat_that_has_grown_goes_on(run_import: RunImport, story: Story) -> None:
    run_import(chat(ASK, ANSWER), "s.jsonl")

    report = run_import(chat(ASK, ANSWER, {**ASK, "mes": "more"}), "s.jsonl")

    assert (report.imported, report.already_there) == (1, 3)
    assert turns(story)[-1] == (2, "more")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"mes": "one", "swipe_id": 0}, id="another swipe chosen"),
        pytest.param({"mes": "three", "swipes": ["one", "two", "three"], "swipe_id": 2}, id="a new swipe chosen"),
        pytest.param({"swipes": ["one", "two", "three"]}, id="a new swipe"),
    ],
)
def test_a_chat_swiped_since_changes_nothing_in_the_story(
    run_import: RunImport, story: Story, change: dict[str, Any]
) -> None:
    run_import(chat(ASK, ANSWER), "s.jsonl")

    report = run_import(chat(ASK, {**ANSWER, **change}, {**ASK, "mes": "more"}), "s.jsonl")

    assert report.error is None
    assert [text for _, text in turns(story)] == ["ask", "two", "more"]


def test_a_system_line_is_kept_and_opens_no_turn(run_import: RunImport, story: Story) -> None:
    run_import(chat(ASK, {**ANSWER, "is_system": True, "swipes": []}), "s.jsonl")

    assert [(m.role, m.turn) for m in story.messages.read(SHORT)] == [("player", 1), ("system", 1)]


def test_a_metadata_line_of_over_a_million_characters_is_no_obstacle(run_import: RunImport, story: Story) -> None:
    header = {"user_name": "Ann", "chat_metadata": {"notes": "x" * 1_200_000}}

    report = run_import(json.dumps(header) + "\n" + json.dumps(ASK), "s.jsonl")

    assert (report.error, report.imported) == (None, 1)


def test_progress_reaches_the_size_of_the_file(story: Story, source: Callable[..., Any], lines_of: LinesOf) -> None:
    content = lines_of(*rows(20))
    seen: list[int] = []

    import_file(story, source(content), "jsonl", Options(), seen.append)

    assert seen == sorted(seen)
    assert seen[-1] == len(content)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 12)), max_size=30), st.integers(0, 30))
def test_importing_in_pieces_is_importing_at_once(
    story: Story, source: Callable[..., Any], lines: list[tuple[str, int]], cut: int
) -> None:
    whole = [json.dumps({"id": str(n), "session": s, "speaker": "user", "text": f"t{n}"}) for s, n in lines]
    example = len(story.workspaces.all())
    once, pieces = Options(f"w{example}-once"), Options(f"w{example}-pieces")

    import_file(story, source("\n".join(whole)), "jsonl", once, lambda _: None)
    import_file(story, source("\n".join(whole[:cut])), "jsonl", pieces, lambda _: None)
    import_file(story, source("\n".join(whole)), "jsonl", pieces, lambda _: None)

    assert told(story, once.workspace) == told(story, pieces.workspace)


def told(story: Story, workspace: str) -> dict[str, list[tuple[int, str]]]:
    sessions = story.sessions.all(workspace)
    return {one.id: [(message.turn, message.text) for message in story.messages.read(one.address)] for one in sessions}


def test_a_file_that_grew_goes_on_behind_its_last_message_after_an_undo(
    run_import: RunImport, story: Story, lines_of: LinesOf
) -> None:
    run_import(lines_of(*rows(4)), player="Mira")
    story.tree.undo(SHORT)
    story.tree.undo(SHORT)

    report = run_import(lines_of(*rows(5)), player="Mira")

    assert [text for _, text in turns(story)] == [f"line {number}" for number in range(5)]
    assert [line for _, line in report.notes.values()] == [5]


def test_a_file_that_grew_goes_on_at_the_head_of_a_story_that_went_on(
    run_import: RunImport, story: Story, lines_of: LinesOf
) -> None:
    run_import(lines_of(*rows(2)))
    story.messages.append(SHORT, [Draft("narrator", "played on")])

    run_import(lines_of(*rows(3)))

    assert [text for _, text in turns(story)] == ["line 0", "line 1", "played on", "line 2"]
