"""What holds for every source file, whoever wrote it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

# Folders that exist on somebody's machine and not on the reader's.
MACHINE_PATH = re.compile(r"(?<![\w./~-])/(?:root|home|Users|work|workspace|tmp|mnt|opt)/\w|[A-Z]:\\\\?Users\\")
# Ends a line: a rule or type is ignored, and no reason follows.
IGNORED = re.compile(r"# (?:noqa(?:: [A-Z]+\d+(?:, ?[A-Z]+\d+)*)?|(?:type|pyright): ignore(?:\[[\w, -]+\])?)\s*$")
TEXT_FILES = ("*.py", "*.md", "*.toml", "*.json", "*.jsonl", "*.sql", "*.sh", ".ci/run")


def test_no_module_has_more_than_one_subject(sources: dict[str, Path]) -> None:
    lengths = {name: len(path.read_text("utf-8").splitlines()) for name, path in sources.items()}

    assert {name: length for name, length in lengths.items() if length > 450} == {}


def test_the_kernel_names_no_bundled_plugin(packages: dict[str, Path], kernel: Path) -> None:
    plugins = {Path(name).name for name in packages} - {"talekeeper"} | {"talekeeper_dreaming"}

    naming = [
        path.relative_to(kernel).as_posix()
        for path in kernel.rglob("*")
        if path.suffix in {".py", ".sql", ".toml", ".json"} and any(name in path.read_text("utf-8") for name in plugins)
    ]

    assert naming == []


def test_a_bundled_plugin_imports_of_the_kernel_only_what_authors_may(
    packages: dict[str, Path], imports: Callable[[Path], set[str]]
) -> None:
    modules = [path for name, folder in packages.items() if "plugins/" in name for path in folder.rglob("*.py")]

    imported = {name for path in modules for name in imports(path) if name.partition(".")[0] == "talekeeper"}

    assert imported <= {"talekeeper.api"}


def test_what_is_ignored_has_its_reason_beside_it(root: Path) -> None:
    folders = [root / name for name in ("examples", "kernel", "plugins", "scripts", "tests", "typings")]
    files = [
        root / "conftest.py",
        *(path for folder in folders for path in folder.rglob("*.py*") if path.suffix != ".pyc"),
    ]

    without = [
        f"{path.relative_to(root)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text("utf-8").splitlines(), start=1)
        if IGNORED.search(line)
    ]

    assert without == []


def test_no_file_names_a_folder_of_one_machine(root: Path, packages: dict[str, Path]) -> None:
    folders = [root / name for name in ("docs", "examples", "plugins", "schema", "scripts", "tests")]
    files = [path for folder in (*folders, *packages.values()) for kind in TEXT_FILES for path in folder.rglob(kind)]
    files += [path for kind in TEXT_FILES for path in root.glob(kind)]

    naming = sorted({str(path) for path in files if MACHINE_PATH.search(path.read_text("utf-8", errors="replace"))})

    assert naming == []
