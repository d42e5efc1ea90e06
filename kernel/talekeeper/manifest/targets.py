"""What `validate-plugin` is pointed at: a file, a folder, a wheel, a distribution → a report on its manifests."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from talekeeper.manifest import codes
from talekeeper.manifest.diagnostic import Diagnostic, Finding, located
from talekeeper.manifest.loader import check_file
from talekeeper.manifest.names import tool_key
from talekeeper.manifest.package import FILE_NAME, GROUP
from talekeeper.manifest.project import Project, ends_with, keeps_manifest, lone_package, project_around, project_at
from talekeeper.manifest.report import Examined, Report, about
from talekeeper.manifest.rules.identity import Expected
from talekeeper.text import quoted

_DEPTH = 4
_MOST_FOLDERS = 5_000
_NOT_SOURCES = frozenset({"__pycache__", "build", "dist", "node_modules", "site-packages", "venv"})


def check_target(target: str, *, level: int = codes.LEVEL) -> Report:
    """Checks everything a target names. Never raises for what the target holds, and imports none of its code."""
    try:
        found = _looked_at(target, Path(target), level)
    except OSError as error:
        reason = f"this cannot be read: {(error.strerror or 'it cannot be opened').lower()}"
    except UnicodeDecodeError:
        reason = "the metadata of this distribution is not UTF-8"
    else:
        if found is not None:
            return Report(target, beside_each_other(found))
        reason = _no_such(target)
    return Report(target, [about(codes.UNREADABLE, target, reason)])


def _looked_at(target: str, path: Path, level: int) -> list[Examined] | None:
    if target and path.is_dir():
        return _folder(target, path, level)
    if path.suffix == ".whl" and path.exists():
        from talekeeper.manifest.distributions import in_wheel  # noqa: PLC0415 - zipfile and metadata, for few targets

        return list(in_wheel(target, path, level))
    if target and path.exists():
        return list(_manifest(target, path, level))
    from talekeeper.manifest.distributions import in_distribution  # noqa: PLC0415 - as above

    return in_distribution(target, level)


def _no_such(target: str) -> str:
    if not target.strip():
        return "the target is blank, expected a file, folder, wheel or installed distribution"
    if target.startswith("~"):
        return 'there is no such file or folder; nothing has put your home folder in place of "~"'
    if re.match("[a-z]+://", target):
        return "this is an address, and nothing is fetched; download it and give the file"
    return "there is no such file, folder or installed distribution"


def _folder(target: str, path: Path, level: int) -> list[Examined]:
    if (path / FILE_NAME).is_file():
        return list(_manifest(str(path / FILE_NAME), path / FILE_NAME, level))
    roots = sorted(_roots(path))
    project = project_at(path)
    examined: list[Examined] = []
    if project and project.announced:
        examined += _lacking(project, roots, path)
        roots = [root for root in roots if project.names_of(root.resolve())]
    for root in roots:
        examined += _manifest(str(root / FILE_NAME), root / FILE_NAME, level)
    if not examined:
        return [about(codes.UNREADABLE, target, f"there is no {FILE_NAME} in this folder or below it")]
    return examined


def _roots(folder: Path) -> Iterator[Path]:
    """The folders below, not too deep, that hold a manifest."""
    waiting, seen = [(folder, 0)], 0
    while waiting and seen < _MOST_FOLDERS:
        here, depth = waiting.pop()
        seen += 1
        if (here / FILE_NAME).is_file():
            yield here
        elif depth < _DEPTH:
            waiting.extend((inner, depth + 1) for inner in here.iterdir() if _is_source(inner))


def _is_source(folder: Path) -> bool:
    usual = not folder.name.startswith(".") and folder.name not in _NOT_SOURCES
    return usual and folder.is_dir() and not folder.is_symlink()


def _lacking(project: Project, roots: list[Path], shown: Path) -> Iterator[Examined]:
    for name, value in project.announced.items():
        if not any(ends_with(root.resolve(), value) for root in roots):
            message = f"the entry point {quoted(name)} announces {quoted(value)}, and no such package has a {FILE_NAME}"
            yield about(codes.NO_MANIFEST, str(shown / "pyproject.toml"), message)


def _manifest(shown: str, path: Path, level: int) -> Iterator[Examined]:
    """The manifest at a path, and what the project around it has to do with it."""
    root = path.parent.resolve()
    project = project_around(root) if path.name == FILE_NAME else None
    names = project.names_of(root) if project else []
    near = project is not None and root.parent in (project.root, project.root / "src") and project.is_installable
    expected = Expected(announced=tuple(names))
    if path.name == FILE_NAME and not names and not near:
        expected = Expected(folder=root.name, around=partial(_holder, root))
    package = root.name if root.name.isidentifier() else ""
    yield Examined(shown, check_file(path, expected=expected, shown=shown, level=level), root, package)
    if project and (names or near):
        yield from _packed(project, root, announced=bool(names))


def _holder(root: Path) -> str:
    """The name of the folder that a package lies in by itself, by which a host finds the plugin; else nothing."""
    holder = root.parent.parent if root.parent.name == "src" else root.parent
    return holder.name if lone_package(holder) == root else ""


def _packed(project: Project, package: Path, *, announced: bool) -> Iterator[Examined]:
    file = _shown(project.root / "pyproject.toml")
    if not announced:
        message = f"the package {quoted(package.name)} is not announced under {quoted(GROUP)}"
        yield about(codes.NO_ENTRY_POINT, file, message)
    if not keeps_manifest(project, package):
        message = f"nothing says that {quoted(package.name)} has {FILE_NAME} in the wheel"
        yield about(codes.NOT_PACKAGED, file, message)


def _shown(path: Path) -> str:
    """The path as a person in the current folder would write it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def beside_each_other(examined: list[Examined]) -> list[Examined]:
    """The same manifests, with the findings that need all of them: one id or one tool name in two manifests."""
    ids: dict[str, str] = {}
    tools: dict[str, str] = {}
    return [_beside(one, ids, tools) for one in examined]


def _beside(one: Examined, ids: dict[str, str], tools: dict[str, str]) -> Examined:
    findings: list[Finding] = []
    checked = one.checked
    earlier = ids.setdefault(checked.id, one.file) if checked.id else one.file
    if earlier != one.file:
        message = f"id {quoted(checked.id)} is taken by {earlier}"
        findings.append(Finding(codes.SAME_ID, ("plugin", "id"), message))
    entries = checked.manifest.contributes.get("tools", ()) if checked.manifest else ()
    for index, entry in enumerate(entries):
        name = str(entry["name"])
        other = tools.setdefault(tool_key(name), one.file)
        if other != one.file:
            message = f"the tool {quoted(name)} is declared by {other} too; when both are active, one is blocked"
            findings.append(Finding(codes.TOOL_TAKEN, ("contributes", "tools", index, "name"), message))
    if not findings:
        return one
    diagnostics: list[Diagnostic] = [*checked.diagnostics, *located(findings, one.file, checked.places)]
    diagnostics.sort(key=lambda it: (it.line, it.column, it.code))
    return one._replace(checked=checked.judged(diagnostics))
