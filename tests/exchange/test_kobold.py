"""KoboldAI's saves in both formats, and those of KoboldAI Lite in its four modes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from talekeeper.errors import ImportFileError
from talekeeper.exchange import Report, Source, detect_format
from talekeeper.story import Address, Story

ReadAll = Callable[..., Any]
Parts = list[tuple[str, str, str]]

BASE: dict[str, Any] = {"gamestarted": True, "memory": "", "authorsnote": "", "anotetemplate": "", "worldinfo": []}


def save(prompt: str, *actions: str, **more: Any) -> dict[str, Any]:
    return {**BASE, "prompt": prompt, "actions": [*actions], "actions_metadata": {}, **more}


def lite(mode: int, prompt: str, *actions: str, **settings: Any) -> dict[str, Any]:
    return save(prompt, *actions, savedsettings={"opmode": mode, **settings})


def parts(read: ReadAll, document: object, player: str | None = None) -> Parts:
    entries = read("kobold", json.dumps(document, indent=3), player).entries
    return [(entry.draft.role, entry.draft.speaker, entry.draft.text) for entry in entries]


def test_an_adventure_has_a_player_where_a_piece_begins_with_a_sign(read: ReadAll) -> None:
    document = save("You wake in a mill.", "\n\n> You look around.\n", "It is dark.", " Something moves.")

    assert parts(read, document) == [
        ("narrator", "", "You wake in a mill."),
        ("player", "", "You look around."),
        ("narrator", "", "It is dark."),
        ("narrator", "", "Something moves."),
    ]


def test_a_story_has_none(read: ReadAll) -> None:
    assert parts(read, lite(1, "Once.", "> a quotation")) == [
        ("narrator", "", "Once."),
        ("narrator", "", "> a quotation"),
    ]


def test_a_chat_is_split_at_the_names_it_was_set_up_with(read: ReadAll) -> None:
    document = lite(
        3, "Mira: Hello.", "\nAnn: Who: are you?\nMira:", " The ferryman.\nJon: Ha.", chatname="Ann",
        chatopponent="Mira||$||Jon",
    )  # fmt: skip

    assert parts(read, document) == [
        ("narrator", "Mira", "Hello."),
        ("player", "Ann", "Who: are you?"),
        ("narrator", "Mira", "The ferryman."),
        ("narrator", "Jon", "Ha."),
    ]


@pytest.mark.parametrize(
    "document",
    [
        lite(4, "", "{{[INPUT]}}Go on.{{[OUTPUT]}}", "He went.", "{{[INPUT]}}And?{{[INPUT_END]}}{{[OUTPUT]}}Home."),
        lite(
            4,
            "",
            "\n### Instruction:\nGo on.\n### Response:\n",
            "He went.",
            "### Instruction:\nAnd?\n### Response:Home.",
            instruct_starttag="\\n### Instruction:\\n",
            instruct_endtag="\\n### Response:\\n",
        ),
    ],
    ids=["placeholders", "tags of the settings"],
)
def test_instructions_are_told_from_what_answers_them(read: ReadAll, document: object) -> None:
    assert parts(read, document) == [
        ("player", "", "Go on."),
        ("narrator", "", "He went."),
        ("player", "", "And?"),
        ("narrator", "", "Home."),
    ]


def test_other_versions_of_a_piece_are_its_takes_in_both_formats(read: ReadAll) -> None:
    first = save(
        "Night.",
        "Rain.",
        actions_metadata={"0": {"Alternative Text": [{"Text": "Snow."}, {"Text": "Rain."}, {"Text": ""}]}},
    )
    second = {
        "file_version": 2,
        "prompt": "Night.",
        "actions": {"action_count": 0, "actions": {"0": {"Selected Text": "Rain.", "Options": [{"text": "Snow."}]}}},
        "story_id": 2**126,
    }

    for document in (first, second):
        drafts = [entry.draft for entry in read("kobold", json.dumps(document)).entries]
        assert [(draft.text, draft.ref) for draft in drafts] == [("Night.", "#1"), ("Rain.", "#2")]
        assert [(take.text, take.ref) for take in drafts[1].takes] == [("Snow.", "#2/1")]


def test_pieces_of_the_second_format_stand_in_the_order_of_their_numbers(read: ReadAll) -> None:
    actions = {str(number): {"Selected Text": f"piece {number}"} for number in (10, 2, 1, 0)}

    found = parts(read, {"file_version": 2, "prompt": "", "actions": {"actions": actions}})

    assert [text for _, _, text in found] == ["piece 0", "piece 1", "piece 2", "piece 10"]


def test_what_is_left_out_is_said(read: ReadAll) -> None:
    reading = read("kobold", json.dumps(save("Night.", memory="Ann is tall.", worldinfo=[{"key": "a"}])))

    assert set(reading.notes.taken) == {
        "`memory` is no part of the story and is left out",
        "`worldinfo` is no part of the story and is left out",
    }


@pytest.mark.parametrize("indent", [None, 3])
@pytest.mark.parametrize("more", [{}, {"story_id": 2**126}], ids=["plain", "long number"])
def test_a_save_is_known_by_its_keys(source: Callable[..., Source], indent: int | None, more: dict[str, Any]) -> None:
    assert detect_format(source(json.dumps(save("Night.", **more), indent=indent))) == "kobold"


def test_another_document_over_many_lines_stays_none(source: Callable[..., Source]) -> None:
    with pytest.raises(ImportFileError, match="one JSON document over many lines"):
        detect_format(source(json.dumps({"entries": {}}, indent=3)))


def test_a_save_is_imported_and_goes_on_where_it_ended(run_import: Callable[..., Report], story: Story) -> None:
    run_import(json.dumps(save("Night.", "> You wait.", "Rain.")), "mill.json")

    again = run_import(json.dumps(save("Night.", "> You wait.", "Rain.", "> You go.")), "mill.json")

    assert (again.imported, again.already_there, again.error) == (1, 3, None)
    assert [(m.role, m.turn, m.text) for m in story.messages.read(Address("default", "mill"))] == [
        ("narrator", 0, "Night."),
        ("player", 1, "You wait."),
        ("narrator", 1, "Rain."),
        ("player", 2, "You go."),
    ]


@pytest.mark.parametrize("player", [None, "Jonas"])
def test_a_player_the_save_does_not_name_may_be_named(read: ReadAll, player: str | None) -> None:
    assert parts(read, save("", "> You wait."), player) == [("player", player or "", "You wait.")]


@pytest.mark.parametrize(
    ("content", "says"),
    [
        pytest.param("[]", "the document is JSON but not an object", id="list"),
        pytest.param('{"prompt": "a"', "not JSON: .*; is the file complete", id="cut off"),
        pytest.param("{}", "this is no save of KoboldAI", id="other"),
        pytest.param(b'{"prompt": "\xff"}', r"chat.txt:1: not UTF-8 at byte 13", id="encoding"),
        pytest.param("[" * 10_000, "nested more than 64 levels", id="depth"),
        pytest.param(json.dumps(save("a") | {"prompt": None}), "`prompt` must be text", id="prompt"),
        pytest.param(json.dumps(save("a") | {"actions": 7}), "`actions` is neither a list nor", id="actions"),
        pytest.param(json.dumps(save("a") | {"actions": [7]}), "`actions/0` must be text", id="action"),
        pytest.param(json.dumps(save("a") | {"actions": {}}), "`actions` has no `actions`", id="second format"),
        pytest.param(json.dumps(save("a\0")), "prompt: holds a NUL", id="NUL"),
    ],
)
def test_what_is_no_save_is_one_sentence(read: ReadAll, content: str | bytes, says: str) -> None:
    with pytest.raises(ImportFileError, match=says) as refused:
        read("kobold", content)

    assert "\n" not in str(refused.value)


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "a", "> a", "0", "Ann: a", "{{[INPUT]}}", "\0"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["actions", "0", "x", "Selected Text", "Options", "text", "Alternative Text", "opmode", "chatname"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    document=st.fixed_dictionaries(
        {"gamestarted": ANY, "prompt": ANY, "actions": ANY},
        optional={"actions_metadata": ANY, "savedsettings": ANY, "chatmode": ANY, "memory": ANY, "botname": ANY},
    )
)
def test_no_save_makes_the_reader_fail_otherwise(read: ReadAll, document: object) -> None:
    try:
        drafts = [entry.draft for entry in read("kobold", json.dumps(document)).entries]
    except ImportFileError:
        return

    assert all(draft.text.strip() for draft in drafts)
    refs = [one.ref for draft in drafts for one in (draft, *draft.takes)]
    assert len(refs) == len(set(refs))
