"""One lineage written for SillyTavern and for people."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from talekeeper.exchange import Report, render_markdown, render_sillytavern, siblings_of
from talekeeper.story import Address, Draft, Message, Role, Story

RunImport = Callable[..., Report]

HEADER: dict[str, Any] = {
    "user_name": "Ann",
    "character_name": "Mira",
    "create_date": "2024-3-5@22h15m30s",
    "chat_metadata": {},
}
CHAT: list[dict[str, Any]] = [
    {
        "name": "Mira",
        "is_user": False,
        "is_system": False,
        "send_date": "2024-03-05T22:15:00Z",
        "mes": "Hello.\n\nSit.",
    },
    {"name": "Ann", "is_user": True, "is_system": False, "send_date": "2024-03-05T22:16:00Z", "mes": "Who are you?"},
    {
        "name": "Mira",
        "is_user": False,
        "is_system": False,
        "send_date": "2024-03-05T22:17:00Z",
        "mes": "The ferryman.",
        "swipes": ["The ferryman.", "Nobody.", "Your aunt."],
        "swipe_id": 0,
    },
    {"name": "Ann", "is_user": True, "is_system": False, "send_date": "2024-03-05T22:18:00Z", "mes": "小明：好的。"},
]


def exported(story: Story, session: str) -> list[dict[str, Any]]:
    address = Address("default", session)
    forks = {branch.id: branch.fork for branch in story.tree.branches(address)}
    siblings = siblings_of(story.messages.all(address), forks)
    return [
        json.loads(line)
        for line in render_sillytavern(story.sessions.get(address), story.messages.read(address), siblings)
    ]


def test_a_sillytavern_chat_comes_back_as_it_went_in(run_import: RunImport, story: Story) -> None:
    run_import("\n".join(json.dumps(line) for line in [HEADER, *CHAT]), "a.jsonl")

    header, *messages = exported(story, "a")

    assert (header["user_name"], header["character_name"]) == ("Ann", "Mira")
    assert [{**message, "extra": {}} for message in CHAT] == messages


def test_a_later_swipe_stays_the_chosen_one(run_import: RunImport, story: Story) -> None:
    chosen = {**CHAT[2], "mes": "Your aunt.", "swipe_id": 2}
    run_import("\n".join(json.dumps(line) for line in [HEADER, *CHAT[:2], chosen]), "a.jsonl")

    *_, last = exported(story, "a")

    assert (last["mes"], last["swipes"][last["swipe_id"]]) == ("Your aunt.", "Your aunt.")
    assert set(last["swipes"]) == set(CHAT[2]["swipes"])


def test_hidden_messages_are_system_messages_and_deleted_ones_are_not_there(
    run_import: RunImport, story: Story
) -> None:
    run_import("Mira: a\nuser: b\nMira: c\n", "s.txt")
    address = Address("default", "s")
    first, second, _ = story.messages.read(address)
    story.messages.hide(address, first.id)
    story.messages.delete(address, second.id)

    assert [(line["mes"], line["is_system"]) for line in exported(story, "s")[1:]] == [("a", True), ("c", False)]


def test_markdown_has_a_heading_a_turn_and_a_name_a_message(run_import: RunImport, story: Story) -> None:
    run_import("Night.\nuser: *I knock.*\nMira: Come in.\n\nSit.\nuser: Thanks.\n", "s.txt", title="The Inn")
    address = Address("default", "s")

    text = "\n".join(render_markdown(story.sessions.get(address), story.messages.read(address)))

    assert text == (
        "# The Inn\n\n## Turn 0\n\nNight.\n\n## Turn 1\n\n**user:** *I knock.*\n\n**Mira:** Come in.\n\nSit.\n"
        "\n## Turn 2\n\n**user:** Thanks."
    )


TEXT = st.text(st.characters(exclude_characters="{\0", exclude_categories=["Cs"]), min_size=1, max_size=12).filter(
    str.strip
)


def _draft(role: Role, text: str, others: list[str]) -> Draft:
    takes = tuple(Draft("narrator", other, "Mira") for other in others)
    return Draft(role, text, "Ann" if role == "player" else "Mira", takes=takes)


ROLE: st.SearchStrategy[Role] = st.sampled_from(("player", "narrator"))
DRAFT = st.builds(_draft, ROLE, TEXT, st.lists(TEXT, max_size=2, unique=True))


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(drafts=st.lists(DRAFT, min_size=1, max_size=5))
def test_any_lineage_comes_back_from_a_sillytavern_file_with_its_takes(
    story: Story, run_import: RunImport, drafts: list[Draft]
) -> None:
    old, new = Address("default", "old"), Address("default", "new")
    story.sessions.create("default", session_id="old")
    # Takes of one text are one take.
    story.messages.append(old, [replace(d, takes=tuple(t for t in d.takes if t.text != d.text)) for d in drafts])

    run_import("\n".join(map(json.dumps, exported(story, "old"))), "new.jsonl")

    try:
        assert shape(story, new) == shape(story, old)
    finally:
        for address in (old, new):
            story.sessions.delete(address)


def shape(story: Story, address: Address) -> list[tuple[str, str, str, set[str]]]:
    forks = {branch.id: branch.fork for branch in story.tree.branches(address)}
    siblings = siblings_of(story.messages.all(address), forks)

    def one(message: Message) -> tuple[str, str, str, set[str]]:
        return message.role, message.speaker, message.text, {take.text for take in siblings[message.coordinate]}

    return [one(message) for message in story.messages.read(address)]
