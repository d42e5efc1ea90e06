"""What `scripts/house.py` finds in small trees."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Build = Callable[[dict[str, str]], Any]


@pytest.fixture
def script(root: Path) -> dict[str, Any]:
    return runpy.run_path(str(root / "scripts" / "house.py"))


@pytest.fixture
def build(script: dict[str, Any], tmp_path: Path) -> Build:
    """Writes modules of the kernel, by their path in it or in the tree, and reads the house they make."""

    def made(files: dict[str, str]) -> Any:
        for name, text in files.items():
            path = (
                tmp_path / name if "/" in name and name.split("/")[0] in {"tests", "scripts"} else tmp_path / "k" / name
            )
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return script["read_house"](tmp_path, {"talekeeper": "k"})

    return made


FACE = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from talekeeper.a.inner import thing\n"


@pytest.mark.parametrize(
    ("file", "text", "found"),
    [
        pytest.param("b/other.py", "from talekeeper.a.inner import thing", True, id="inside of another room"),
        pytest.param("b/other.py", "def f():\n    import talekeeper.a.inner", True, id="inside a function"),
        pytest.param("b/other.py", "from talekeeper.a import inner", True, id="the module itself"),
        pytest.param("b/other.py", "from talekeeper.a import thing", False, id="by the face"),
        pytest.param("a/other.py", "from talekeeper.a.inner import thing", False, id="in its own room"),
        pytest.param("tests/a/test_it.py", "from talekeeper.a.inner import thing", False, id="a test of the room"),
        pytest.param("tests/b/test_it.py", "from talekeeper.a.inner import thing", True, id="a test of another room"),
        pytest.param("scripts/it.py", "from talekeeper.a.inner import thing", True, id="a script"),
    ],
)
def test_an_import_past_a_face_is_found(
    script: dict[str, Any], build: Build, tmp_path: Path, file: str, text: str, *, found: bool
) -> None:
    house = build({"a/__init__.py": FACE, "a/inner.py": "thing = 1\n", file: f"{text}\n"})

    places = list(script["past_faces"](house, tmp_path))

    assert [place.partition(":")[0].endswith(file) for place in places] == [True] * found


def test_a_circle_through_a_face_is_found_and_one_for_types_or_later_is_none(build: Build) -> None:
    house = build(
        {
            "a/__init__.py": FACE,
            "a/inner.py": "from talekeeper.b import there\nthing = 1\n",
            "b.py": "from talekeeper.a import thing\nthere = 1\n",
            "c.py": "def f():\n    import talekeeper.d\n",
            "d.py": "import talekeeper.c\n",
        }
    )

    assert house.circles() == [["talekeeper.a.inner", "talekeeper.b"]]


def test_a_module_with_one_user_in_its_room_is_found(build: Build) -> None:
    house = build(
        {
            "a/__init__.py": FACE,
            "a/inner.py": "from talekeeper.a.helper import help_it\nthing = 1\n",
            "a/helper.py": "help_it = 1\n",
            "b.py": "from talekeeper.a import thing\n",
        }
    )

    assert house.one_user() == ["talekeeper.a.helper"]


def test_a_policy_in_two_places_is_found(build: Build) -> None:
    house = build({"a.py": "def nearest(): ...\n", "b.py": "def _nearest(): ...\n", "c.py": "def clean(): ...\n"})

    assert house.doubles() == {"did you mean": ["talekeeper.a", "talekeeper.b"]}


@pytest.mark.parametrize(("imported", "second"), [("scan_json", False), ("NotJson", True)])
def test_a_policy_built_on_its_one_place_is_no_second(build: Build, imported: str, *, second: bool) -> None:
    lenient = f"from talekeeper.strict import {imported}\ndef read_json(): ...\n"

    house = build({"strict.py": "def scan_json(): ...\nclass NotJson: ...\n", "lenient.py": lenient})

    assert house.doubles() == ({"strict JSON": ["talekeeper.lenient", "talekeeper.strict"]} if second else {})


def test_too_much_is_a_limit_crossed(script: dict[str, Any], build: Build, tmp_path: Path) -> None:
    house = build({"a.py": "\n" * (script["MOST_LINES"] + 1)})

    assert list(script["crossed"](house, tmp_path)) == ["38,501 lines, at most 38,500"]
