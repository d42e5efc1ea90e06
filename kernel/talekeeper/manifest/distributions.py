"""Wheels and installed distributions: their entry points, packages and manifests must agree.

A wheel is opened without trusting a name in it and read without unpacking it to disk.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath

from talekeeper.manifest import codes
from talekeeper.manifest.entry_points import announced, folder_of, is_package_name
from talekeeper.manifest.loader import SIZE_LIMIT, examine
from talekeeper.manifest.package import FILE_NAME, GROUP, Folder, Package, PathRefused, matches, refuse_unsafe
from talekeeper.manifest.report import Examined, about
from talekeeper.manifest.rules.identity import Expected
from talekeeper.text import quoted, visible

Opened = tuple[Package, Path | None]
"""The files of a package, and their folder when there is one."""


def in_wheel(shown: str, path: Path, level: int) -> Iterator[Examined]:
    """The manifests in a wheel. Raises OSError when the file cannot be opened."""
    try:
        with closing(Wheel(path)) as opened:
            # The whole wheel first: one that is refused half-way has no manifests.
            yield from list(_announced(opened, shown, partial(_in_wheel, opened), level))
    except WheelRefused as refusal:
        yield about(codes.BAD_WHEEL, shown, f"the wheel is refused: {refusal}")


def in_distribution(name: str, level: int) -> list[Examined] | None:
    """The manifests of an installed distribution, None when there is none of this name."""
    try:
        found = distribution(name)
    except (PackageNotFoundError, ValueError):
        return None
    return list(_announced(found, name, _importable, level))


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
        return _WheelPackage(opened, folder), None
    return None


def _importable(package: str) -> Opened | None:
    root = folder_of(package)
    return (Folder(root), root) if root else None


# What zipfile and zlib raise for damaged bytes.
_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError, struct.error)
_PACKED_AS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
MOST_MEMBERS = 20_000
LARGEST_MEMBER = codes.MEMBER_MIB * 1024 * 1024
_INSTALLERS_READ = ("METADATA", "RECORD", "WHEEL")


class WheelRefused(Exception):
    """The archive is not one that pip should be given; the text says why."""


class Wheel(Distribution):
    """An open wheel, with the metadata every distribution has; `close` it.

    Raises WheelRefused for what is no sound archive, OSError when the file cannot be opened.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with ExitStack() as opened:
            file = opened.enter_context(path.open("rb"))
            try:
                self._zip = opened.enter_context(zipfile.ZipFile(file))
            except _DAMAGES:
                raise WheelRefused("it is no zip archive, or a damaged one") from None
            self.files_within = _checked_members(self._zip)
            self._info = _info_folder(self.files_within)
            self._opened = opened.pop_all()

    def close(self) -> None:
        """Closes the archive."""
        self._opened.close()

    def read(self, name: str, limit: int) -> bytes:
        """The first `limit` bytes of a member. Raises WheelRefused when it is damaged or encrypted."""
        try:
            with self._zip.open(name) as file:
                return file.read(limit)
        except _DAMAGES:
            raise WheelRefused(f"{quoted(name)} is damaged or encrypted") from None

    def unpack(self, folder: Path) -> None:
        """Writes all files below an empty folder. Names have been checked, so none leads out of it.

        Raises WheelRefused for a member that is damaged, or that the system does not write.
        """
        for name in self.files_within:
            content = self.read(name, LARGEST_MEMBER)
            target = folder / name
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
            except OSError as error:
                reason = (error.strerror or "the system refuses").lower()
                raise WheelRefused(f"{quoted(name)} cannot be unpacked: {reason}") from None

    def read_text(self, filename: str) -> str | None:
        """A file of the `.dist-info` folder, None when it is absent; what `Distribution` builds everything on."""
        name = f"{self._info}/{filename}"
        return self.read(name, LARGEST_MEMBER).decode(errors="replace") if name in self.files_within else None

    def locate_file(self, path: object) -> Path:
        """Where a file of the distribution would be; nothing is there, it is all in the archive."""
        return self._path / str(path)


class _WheelPackage:
    """A package within a wheel; see `package.Package`."""

    def __init__(self, wheel: Wheel, folder: str) -> None:
        self._wheel = wheel
        self._folder = folder

    def has(self, path: str) -> bool:
        refuse_unsafe(path)
        return self._name(path) in self._wheel.files_within

    def is_folder(self, path: str) -> bool:
        refuse_unsafe(path)
        return any(name.startswith(f"{self._name(path)}/") for name in self._wheel.files_within)

    def read(self, path: str, limit: int) -> bytes:
        return self._wheel.read(self._name(path), limit)

    def matching(self, pattern: str) -> list[str]:
        refuse_unsafe(pattern)
        start = f"{self._folder}/"
        inside = (name.removeprefix(start) for name in self._wheel.files_within if name.startswith(start))
        return sorted(path for path in inside if matches(path, pattern))

    def _name(self, path: str) -> str:
        parts = [part for part in path.split("/") if part not in {"", "."}]
        return "/".join([self._folder, *parts])


def _checked_members(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    # Not `is_dir`, which fails for a member without a name.
    members = [it for it in archive.infolist() if not it.filename.endswith("/")]
    if len(members) > MOST_MEMBERS:
        raise WheelRefused(f"it has more than {MOST_MEMBERS:,} files")
    for member in members:
        try:
            refuse_unsafe(member.filename)
        except PathRefused as refusal:
            raise WheelRefused(f"{quoted(member.filename)} leads out of the archive: {refusal}") from None
        if member.file_size > LARGEST_MEMBER:
            raise WheelRefused(f"{quoted(member.filename)} unpacks to more than {codes.MEMBER_MIB} MiB")
        if member.compress_type not in _PACKED_AS:
            raise WheelRefused(f"{quoted(member.filename)} is neither stored nor deflated, as files of a wheel are")
        if member.external_attr >> 28 == _SYMBOLIC_LINK:
            raise WheelRefused(f"{quoted(member.filename)} is a symbolic link")
    twice = [name for name, count in Counter(it.filename for it in members).items() if count > 1]
    if twice:
        raise WheelRefused(f"{quoted(twice[0])} is in it twice")
    names = {it.filename for it in members}
    both = next((name for name in names if not names.isdisjoint(map(str, PurePosixPath(name).parents))), None)
    if both:
        raise WheelRefused(f"{quoted(both)} lies in what is a file")
    return {it.filename: it for it in members}


_SYMBOLIC_LINK = 0o12
"""The file type of a link, as Unix writes it into the upper bits of a member's attributes."""


def _info_folder(members: dict[str, zipfile.ZipInfo]) -> str:
    folders = {name.split("/")[0] for name in members if name.split("/")[0].endswith(".dist-info")}
    if len(folders) != 1:
        raise WheelRefused(f"it has {len(folders)} .dist-info folders, expected one")
    info = folders.pop()
    lacking = next((it for it in _INSTALLERS_READ if f"{info}/{it}" not in members), None)
    if lacking:
        raise WheelRefused(f"it has no {visible(info)}/{lacking}, without which nothing installs it")
    return info
