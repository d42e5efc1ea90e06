"""The manifest declares the numbers people may set, each with what it changes."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

import pytest

MANIFEST: dict[str, Any] = tomllib.loads(files("talekeeper_memory").joinpath("plugin.toml").read_text(encoding="utf-8"))
SETTINGS = {one["key"]: one for one in MANIFEST["contributes"]["settings"]}
DEFAULTS = {
    "block_characters": 2000,
    "blocks_in_prompt": 8192,
    "blocks_most": 60,
    "facts_a_turn": 3,
    "fact_characters": 200,
    "repeat_share": 0.7,
    "facts_capacity": 5000,
    "recall_facts": 5,
    "recall_skip_turns": 3,
    "recall_share": 0.15,
    "recall_coverage": 0.2,
    "recall_rare_share": 0.02,
    "recall_rare_facts": 50,
    "memory_messages": 6,
    "memory_after": 12,
    "memory_blocks_a_run": 5,
    "memory_words": 50,
    "memory_tokens": 2000,
    "cast_lines": 8,
    "cast_characters": 240,
    "setting_tokens": 300,
    "memories_shown": 5,
    "action_tokens": 200,
    "scene_tokens": 60,
    "narration_tokens": 120,
    "scene_people": 8,
    "weight_action": 0.6,
    "weight_scene": 0.4,
    "weight_lexical": 0.15,
    "bank_capacity": 200,
    "summary_messages": 15,
    "summary_words": 250,
    "summary_reply": 600,
    "summary_raw_tokens": 2000,
}


@pytest.mark.parametrize("key", DEFAULTS)
def test_a_number_is_a_setting_with_its_default(key: str) -> None:
    assert SETTINGS[key]["default"] == DEFAULTS[key]


@pytest.mark.parametrize("key", SETTINGS)
def test_a_setting_says_what_it_changes(key: str) -> None:
    assert len(SETTINGS[key]["description"]) > 20
    assert SETTINGS[key]["label"]


@pytest.mark.parametrize(
    "key", ["repeat_share", "recall_share", "recall_coverage", "recall_rare_share", "recall_facts"]
)
def test_a_threshold_says_what_was_measured(key: str) -> None:
    assert "Measured" in SETTINGS[key]["description"]


def test_jobs_run_in_their_order() -> None:
    jobs = [one["id"] for one in MANIFEST["contributes"]["jobs"]]

    assert jobs == ["extract", "memories", "summary", "eviction", "facts-capacity"]
    assert all(one["on"] == "turn-committed" for one in MANIFEST["contributes"]["jobs"])


def test_a_namespace_holds_more_than_its_capacity() -> None:
    data = MANIFEST["contributes"]["data"]

    assert data["facts"]["limit"] > SETTINGS["facts_capacity"]["max"]
    assert data["bank"]["limit"] > SETTINGS["bank_capacity"]["max"]
    assert data["blocks"]["limit"] == SETTINGS["blocks_most"]["max"]


def test_blocks_are_never_searched_and_what_retells_the_story_is_of_its_tier() -> None:
    data = MANIFEST["contributes"]["data"]

    assert "search" not in data["blocks"]
    assert [data[name]["search"].get("tier", "archival") for name in ("facts", "bank", "summaries", "cards")] == [
        "archival",
        "recall",
        "recall",
        "archival",
    ]
