"""Wheels and installed distributions: are their entry points, packages and manifests of one mind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from talekeeper.manifest.agreement import Expected
from talekeeper.manifest.announced import announced
from talekeeper.manifest.check import FILE_NAME, SIZE_LIMIT, examine
from talekeeper.manifest.codes import packaging as codes
from talekeeper.manifest.company import in_company
from talekeeper.manifest.importable import folder_of, is_package_name
from talekeeper.manifest.outcome import Examined, about
from talekeeper.manifest.package import Folder, Package
from talekeeper.manifest.project import GROUP
from talekeeper.manifest.wheel import Wheel, WheelPackage, WheelRefused
from talekeeper.text import quoted

Opened = tuple[Package, Path | None]
"""The files of a package, and their folder when there is one."""


def wheel(shown: str, path: Path, level: int) -> list[Examined]:
    """The manifests in a wheel. Raises OSError when the file cannot be opened."""
    try:
        opened = Wheel(path)
    except WheelRefused as refusal:
        return [about(codes.BAD_WHEEL, shown, f"the wheel is refused: {refusal}")]
    try:
        return in_company(list(_announced(opened, shown, lambda package: _in_wheel(opened, package), level)))
    except WheelRefused as refusal:
        return [about(codes.BAD_WHEEL, shown, f"the wheel is refused: {refusal}")]
    finally:
        opened.close()


def installed(name: str, level: int) -> list[Examined] | None:
    """The manifests of an installed distribution, None when there is none of this name."""
    try:
        found = distribution(name)
    except (PackageNotFoundError, ValueError):
        return None
    return in_company(list(_announced(found, name, _importable, level)))


def _announced(
    source: Distribution, shown: str, open_package: Callable[[str], Opened | None], level: int
) -> Iterator[Examined]:
    entries, faults = announced(source)
    for fault in faults:
        yield about(codes.BAD_ENTRY_POINTS, shown, fault)
    if not entries and not faults:
        yield about(codes.NO_ENTRY_POINT, shown, f"there is no entry point under {quoted(GROUP)}")
    for entry in entries:
        package, colon, attribute = (part.strip() for part in entry.value.partition(":"))
        if colon:
            message = (
                f"the entry point {quoted(entry.name)} says {quoted(entry.value)}; {quoted(attribute)} means nothing"
            )
            yield about(codes.ENTRY_POINT_VALUE, shown, message)
        opened = open_package(package)
        if opened is None:
            message = f"the entry point {quoted(entry.name)} announces {quoted(package)}, and there is no such package"
            yield about(codes.NO_PACKAGE, shown, message)
            continue
        expected = Expected(announced=(entry.name,), version=source.version if len(entries) == 1 else "")
        yield _manifest(opened, package, shown, expected, level)


def _manifest(opened: Opened, package: str, shown: str, expected: Expected, level: int) -> Examined:
    files, root = opened
    if not files.has(FILE_NAME):
        message = f"the package {quoted(package)} has no {FILE_NAME}"
        return about(codes.NO_MANIFEST, shown, message)
    file = str(root / FILE_NAME) if root else f"{shown}/{package.replace('.', '/')}/{FILE_NAME}"
    raw = files.read(FILE_NAME, SIZE_LIMIT + 1)
    return Examined(file, examine(raw, files, file, root=root or Path(), expected=expected, level=level), root, package)


def _in_wheel(opened: Wheel, package: str) -> Opened | None:
    folder = package.replace(".", "/")
    if is_package_name(package) and any(name.startswith(f"{folder}/") for name in opened.files_within):
        return WheelPackage(opened, folder), None
    return None


def _importable(package: str) -> Opened | None:
    root = folder_of(package)
    return (Folder(root), root) if root else None
