"""What the documents say is so: set-up commands, the map of rooms, the dependencies, the links."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)|!\[[^\]\n]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```|~~~).*?^\1[^\n]*$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ +(.+?) *#*$", re.MULTILINE)
ROOM_LINE = re.compile(r"^((?:[a-z_]+ +)+)(?= )", re.MULTILINE)


def test_ci_runs_the_set_up_commands_that_the_readme_shows(root: Path) -> None:
    readme = (root / "README.md").read_text("utf-8")
    shown = re.findall(r"^<!-- setup:(\w+) -->\n```sh\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)

    run = subprocess.run(["bash", ".ci/run", "--show"], cwd=root, capture_output=True, text=True, check=True)

    assert [name for name, _ in shown] == ["run", "test"]
    assert run.stdout == "".join(command for _, command in shown)


def test_the_map_of_rooms_is_the_contract_on_imports(root: Path, kernel: Path, pyproject: dict[str, Any]) -> None:
    text = (root / "ARCHITECTURE.md").read_text("utf-8").split("## The rooms", 1)[1].split("```")[1]
    drawn: list[set[str]] = [set(line.split()) for line in ROOM_LINE.findall(text)]
    layers: list[set[str]] = [set(re.findall(r"\w+", layer)) - _absent(layer, kernel) for layer in _layers(pyproject)]

    # A line of the map may be finer in the contract, never coarser or in another order.
    seen_on_the_map = _growing(drawn)
    seen_in_the_contract = _growing(layers)

    assert seen_on_the_map[-1] == seen_in_the_contract[-1]
    assert [rooms for rooms in seen_on_the_map if rooms not in seen_in_the_contract] == []


def test_the_places_that_architecture_names_exist(root: Path, kernel: Path, packages: dict[str, Path]) -> None:
    text = (root / "ARCHITECTURE.md").read_text("utf-8").split("## The modules", 1)[0]

    places = re.findall(r"`([a-z_]+/[a-z_/]*(?:\.(?:py|toml))?)`", text)

    assert len(places) > 10
    assert [place for place in places if not _is_there(place, root, kernel, packages)] == []


def _is_there(place: str, root: Path, kernel: Path, packages: dict[str, Path]) -> bool:
    """Also where a package is not in the tree but installed elsewhere."""
    if (kernel / place).exists() or (root / place).exists():
        return True
    return any(
        f"{package}/".startswith(place)
        or (place.startswith(f"{package}/") and (folder / place[len(package) + 1 :]).exists())
        for package, folder in packages.items()
    )


def test_every_dependency_has_its_reason(root: Path, pyproject: dict[str, Any]) -> None:
    text = (root / "docs/why/dependencies.md").read_text("utf-8")

    explained = [str(canonicalize_name(name)) for name in re.findall(r"^\| `([^`]+)` \|", text, re.MULTILINE)]

    assert set(explained) == _dependencies(pyproject)
    assert len(explained) == len(set(explained))


def test_a_dependency_is_declared_once(pyproject: dict[str, Any]) -> None:
    project = pyproject["project"]

    for lines in (project["dependencies"], *project["optional-dependencies"].values()):
        names = [canonicalize_name(Requirement(line).name) for line in lines]
        assert len(names) == len(set(names))


def test_links_between_documents_lead_somewhere(root: Path, packages: dict[str, Path]) -> None:
    documents = [path for path in root.rglob("*.md") if not {".venv", "node_modules"} & set(path.parts)]

    broken = [
        f"{document.relative_to(root)}: {target}"
        for document in documents
        for target in _internal_links(document.read_text("utf-8"))
        if not _leads_somewhere(document, target, root, packages)
    ]

    assert broken == []


def test_every_page_is_reached_from_the_index(root: Path) -> None:
    docs = root / "docs"
    listed = {
        (docs / target.partition("#")[0]).resolve()
        for target in _internal_links((docs / "README.md").read_text("utf-8"))
    }

    missing = [page.relative_to(docs).as_posix() for page in docs.rglob("*.md") if page.resolve() not in listed]

    assert missing == ["README.md"]


def _growing(lines: list[set[str]]) -> list[set[str]]:
    """All rooms down to each line."""
    return [set[str]().union(*lines[: number + 1]) for number in range(len(lines))]


def _layers(pyproject: dict[str, Any]) -> list[str]:
    (contract,) = [entry for entry in pyproject["tool"]["importlinter"]["contracts"] if entry["type"] == "layers"]
    layers: list[str] = contract["layers"]
    return layers


def _absent(layer: str, kernel: Path) -> set[str]:
    """Rooms that the contract allows for and that are not there yet."""
    optional: list[str] = re.findall(r"\((\w+)\)", layer)
    return {
        room
        for room in optional
        if not (kernel / room / "__init__.py").exists() and not (kernel / f"{room}.py").exists()
    }


def _dependencies(pyproject: dict[str, Any]) -> set[str]:
    project = pyproject["project"]
    lines = [*pyproject["build-system"]["requires"], *project["dependencies"]]
    lines += [line for extra in project["optional-dependencies"].values() for line in extra]
    return {str(canonicalize_name(Requirement(line).name)) for line in lines} - {"talekeeper"}


def _internal_links(text: str) -> Iterator[str]:
    for link in LINK.finditer(FENCE.sub("", text)):
        target = link.group(1) or link.group(2)
        if not re.match(r"[a-z]+:", target):
            yield target


def _leads_somewhere(document: Path, target: str, root: Path, packages: dict[str, Path]) -> bool:
    path, _, anchor = target.partition("#")
    place = (document.parent / path).resolve() if path else document
    if not place.exists():
        return any(
            (folder / place.relative_to(root / tree)).exists()
            for tree, folder in packages.items()
            if place.is_relative_to(root / tree)
        )
    return not anchor or place.suffix != ".md" or anchor in _anchors(place.read_text("utf-8"))


def _anchors(text: str) -> set[str]:
    """The anchors a forge makes: lower case, punctuation dropped, blanks to hyphens."""
    headings = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in HEADING.findall(FENCE.sub("", text))]
    explicit = re.findall(r'<a (?:id|name)="([^"]+)"', text)
    return {heading.strip().replace(" ", "-") for heading in headings} | set(explicit)
