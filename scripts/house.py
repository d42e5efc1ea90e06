"""Measures the house: how many modules and lines, how they are sized, and what must not come back.

    python scripts/house.py                 the measures, then every limit that is crossed
    python scripts/house.py --rooms         a line for each room as well

Exits with 1 when a limit is crossed: too many modules or lines, an import past a room's face, modules that import each
other in a circle, or a policy that has one place (strict JSON, "did you mean", …) defined in a second one.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = {"talekeeper": "kernel/talekeeper", "talekeeper_memory": "plugins/memory/talekeeper_memory"}
KERNEL = "talekeeper"
OTHERS = ("examples", "plugins", "scripts", "tests")
MOST_MODULES = 250
MOST_LINES = 38_500
"""Lowered whenever the house gets smaller, never raised for what could be plainer; 37,000 is the aim."""
SMALL = 60
"""Lines; a module with fewer needs a reason, for a file is a hop for the reader."""

POLICIES = {
    "strict JSON": r"_?(?:parse|read|scan|load|loads|strict)_json|_?(?:NotJson|reject_constant|unique_keys|no_doubles)",
    "did you mean": r"_?(?:did_you_mean|nearest|suggest(?:ion)?|closest)",
    "sanitizer": r"_?(?:clean|sanitize|visible|printable|without_controls)",
    "LRU": r"_?(?:lru\w*|LRU\w*|LruCache|LeastRecent\w*)",
    "Levenshtein": r"_?(?:levenshtein|edit_distance)",
}
"""Policy → names of definitions that would be one; each stands in at most one module of the kernel.

A module that imports such a function from that one builds on it: JSON as models write it is read by `scan_json`, with
the same refusals, and only then are its texts made fit.
"""


@dataclass(frozen=True)
class Import:
    """`module` is what a line imports from or imports; `at_start` when it runs as soon as the importing module does."""

    line: int
    module: str
    name: str
    at_start: bool


@dataclass(frozen=True)
class Module:
    """A module of the wheel, by its dotted name."""

    name: str
    path: Path

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax."""
        return ast.parse(self.path.read_bytes())

    @cached_property
    def lines(self) -> int:
        """As `wc -l` counts them."""
        return self.path.read_bytes().count(b"\n")

    @cached_property
    def imports(self) -> list[Import]:
        """Every import statement in it."""
        return list(_imports(self.tree))

    @property
    def room(self) -> str:
        """`talekeeper.story` for all that lies there; a plugin's package is one room."""
        return _room(self.name)


@dataclass(frozen=True)
class House:
    """All modules of the wheel, by name."""

    modules: Mapping[str, Module]

    def users(self) -> dict[str, set[str]]:
        """Module → the modules that import something it defines, faces left out."""
        found: dict[str, set[str]] = {name: set() for name in self.modules}
        for module in self.modules.values():
            for one in module.imports:
                source = self.source_of(one)
                if source in found and source != module.name and module.path.name != "__init__.py":
                    found[source].add(module.name)
        return found

    def one_user(self) -> list[str]:
        """Modules with a single user, which is in their own room."""
        return sorted(
            name
            for name, users in self.users().items()
            if len(users) == 1 and all(self.modules[user].room == self.modules[name].room for user in users)
        )

    def source_of(self, one: Import) -> str:
        """The module that defines what is imported: a face hands on what its rooms' modules define."""
        inner = f"{one.module}.{one.name}"
        if inner in self.modules:
            return inner
        face = self.modules.get(one.module)
        if face is None or face.path.name != "__init__.py":
            return one.module
        return next((each.module for each in face.imports if each.name == one.name), one.module)

    def circles(self) -> list[list[str]]:
        """Modules that reach themselves by the imports that run at their start, each circle once, sorted."""
        edges = {
            module.name: {self.source_of(one) for one in module.imports if one.at_start} & self.modules.keys()
            for module in self.modules.values()
        }
        reach = {name: _reachable(edges, name) for name in edges}
        found = {tuple(sorted(one for one in reach[name] if name in reach[one])) for name in edges}
        return [list(circle) for circle in sorted(found) if circle]

    def doubles(self) -> dict[str, list[str]]:
        """Policy → the modules that define it, where there is more than one that does not build on another."""
        found: dict[str, list[str]] = defaultdict(list)
        for name, module in self.modules.items():
            if name.partition(".")[0] != KERNEL:
                continue  # a plugin imports the API alone, and has no way to the kernel's
            defined = {node.name for node in ast.walk(module.tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
            for policy, pattern in POLICIES.items():
                builds_on = any(
                    re.fullmatch(pattern, one.name) and one.name.islower() and self.source_of(one) in self.modules
                    for one in module.imports
                )
                if not builds_on and any(re.fullmatch(pattern, each) for each in defined):
                    found[policy].append(name)
        return {policy: sorted(names) for policy, names in found.items() if len(names) > 1}


def read_house(root: Path = ROOT, packages: Mapping[str, str] = PACKAGES) -> House:
    """The modules of the packages in the tree."""
    modules: dict[str, Module] = {}
    for package, folder in packages.items():
        for path in sorted((root / folder).rglob("*.py")):
            parts = path.relative_to(root / folder).with_suffix("").parts
            name = ".".join([package, *(part for part in parts if part != "__init__")])
            modules[name] = Module(name, path)
    return House(modules)


def past_faces(house: House, root: Path = ROOT) -> Iterator[str]:
    """Lines that import from inside a room they are not in; tests of a room may look inside it."""
    for module in house.modules.values():
        yield from _past_faces(house, module.path, module.imports, module.room, root)
    for folder in OTHERS:
        for path in sorted((root / folder).rglob("*.py")):
            if not any(path.is_relative_to(root / each) for each in PACKAGES.values()):
                imports = list(_imports(ast.parse(path.read_bytes())))
                yield from _past_faces(house, path, imports, _tested_room(path, root), root)


def _past_faces(house: House, path: Path, imports: Iterable[Import], room: str, root: Path) -> Iterator[str]:
    for one in imports:
        target = f"{one.module}.{one.name}" if f"{one.module}.{one.name}" in house.modules else one.module
        inside = target.count(".") > 1 and target in house.modules
        if inside and not target.startswith(f"{room}."):
            yield f"{path.relative_to(root)}:{one.line} imports {target}"


def _tested_room(path: Path, root: Path) -> str:
    """The room whose tests lie there: `tests/story/…` are those of `talekeeper.story`."""
    parts = list(path.relative_to(root).parts)
    if parts[0] == "tests" and len(parts) > 2:  # noqa: PLR2004 - tests/ROOM/FILE
        return f"{KERNEL}.{parts[1]}"
    return f"{KERNEL}_{parts[1]}" if parts[0] == "plugins" else "none"


def _room(module: str) -> str:
    package, _, inner = module.partition(".")
    return f"{package}.{inner.partition('.')[0]}" if package == KERNEL and inner else package


def _imports(tree: ast.Module) -> Iterator[Import]:
    late = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or _is_for_types(node)
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield from (Import(node.lineno, node.module, each.name, id(node) not in late) for each in node.names)
        elif isinstance(node, ast.Import):
            yield from (Import(node.lineno, each.name, "", id(node) not in late) for each in node.names)


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _reachable(edges: Mapping[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    waiting = list(edges[start])
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += edges.get(name, ())
    return found


def crossed(house: House, root: Path = ROOT) -> Iterator[str]:
    """A line for each limit that is crossed."""
    lines = sum(module.lines for module in house.modules.values())
    if len(house.modules) > MOST_MODULES:
        yield f"{len(house.modules)} modules, at most {MOST_MODULES}"
    if lines > MOST_LINES:
        yield f"{lines:,} lines, at most {MOST_LINES:,}"
    for place in past_faces(house, root):
        yield f"past a face: {place}"
    for circle in house.circles():
        yield f"import each other: {', '.join(circle)}"
    for policy, names in house.doubles().items():
        yield f"{policy} is defined in more than one module: {', '.join(names)}"


def measures(name: str, modules: Sequence[Module], one_user: int) -> str:
    """One line for some modules."""
    sizes = [module.lines for module in modules]
    return (
        f"{name:<18} {len(sizes):>4} modules {sum(sizes):>7,} lines, median {median(sizes):g}, "
        f"{sum(size < SMALL for size in sizes)} under {SMALL}, {one_user} with one user"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the measures and what is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rooms", action="store_true", help="a line for each room as well")
    options = parser.parse_args(arguments)
    house = read_house()
    modules, one_user = list(house.modules.values()), house.one_user()
    for room in sorted({module.room for module in modules}) if options.rooms else ():
        inside = [module for module in modules if module.room == room]
        print(measures(room, inside, sum(house.modules[name].room == room for name in one_user)))
    print(measures("all", modules, len(one_user)))
    found = list(crossed(house))
    print("\n".join(found) or "no limit is crossed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
