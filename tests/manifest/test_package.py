"""Files of a package: patterns match in proportion to their length, and nothing outside is reached."""

from __future__ import annotations

import fnmatch
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from talekeeper.manifest.package import Folder, PathRefused, matches


@pytest.mark.parametrize(
    ("path", "pattern", "fits"),
    [
        ("a.json", "*.json", True),
        ("a/b.json", "*.json", False),
        ("a/b.json", "a/*.json", True),
        ("a/b.json", "**/*.json", True),
        ("b.json", "**/*.json", True),
        ("a/b/c/d.json", "a/**/d.json", True),
        ("a/d.json", "a/**/d.json", True),
        ("a/b/c", "a/**", True),
        ("ab", "a?", True),
        ("a/b", "a?b", False),
        ("a[1]", "a[1]", True),
        ("a1", "a[1]", False),
        ("", "*", True),
    ],
)
def test_a_star_stays_within_a_folder_and_two_do_not(path: str, pattern: str, *, fits: bool) -> None:
    assert matches(path, pattern) == fits


@given(st.text("ab.", max_size=8), st.text("ab.*?", max_size=6).filter(lambda it: "**" not in it))
def test_within_one_name_it_matches_as_fnmatch_does(name: str, pattern: str) -> None:
    assert matches(name, pattern) == fnmatch.fnmatchcase(name, pattern)


def test_a_pattern_made_to_backtrack_does_not() -> None:
    assert not matches("a" * 200 + "c", "*a" * 100 + "b")


def test_a_walk_finds_regular_files_and_enters_no_link(tmp_path: Path) -> None:
    inside = tmp_path / "package"
    (inside / "deep" / "er").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    for path in (inside / "a.txt", inside / "deep" / "er" / "b.txt", tmp_path / "outside" / "c.txt"):
        path.write_text("", encoding="utf-8")
    (inside / "link").symlink_to(tmp_path / "outside")

    assert Folder(inside).matching("**/*.txt") == ["a.txt", "deep/er/b.txt"]
    assert Folder(inside).matching("deep/**/*.txt") == ["deep/er/b.txt"]
    assert Folder(inside).matching("nowhere/*.txt") == []
    with pytest.raises(PathRefused):
        Folder(inside).has("link/c.txt")


def test_links_that_lead_in_a_circle_are_no_file(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")

    assert not Folder(tmp_path).has("circle")
