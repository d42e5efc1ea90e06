"""Imports a plugin's code, and takes it out of the interpreter again.

An installed package is imported under its own name. The package of a project folder too, unless that name belongs to
something else; a bare folder gets a name of the kernel's making, so inside it only relative imports work.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from talekeeper.errors import PluginError
from talekeeper.plugins.found import Found, Origin

_OF_THE_ENVIRONMENT = frozenset({Origin.BUNDLED, Origin.INSTALLED})


def package_name(found: Found, root: Path) -> str:
    """The name under which the package is, or will be, in `sys.modules`."""
    if found.package:
        return found.package
    # Two homes in one process may hold folders of one name.
    place = hashlib.blake2b(str(root.resolve()).encode(), digest_size=4).hexdigest()
    return f"talekeeper_folder_{found.names[0].replace('-', '_')}_{place}"


def import_code(found: Found, root: Path, module: str) -> ModuleType:
    """The plugin's module; raises whatever its code raises, and PluginError when the name leads to other code."""
    package = package_name(found, root)
    importlib.invalidate_caches()
    if found.origin not in _OF_THE_ENVIRONMENT and package not in sys.modules:
        _place(package, root)
    code = importlib.import_module(f"{package}.{module}")
    if not Path(code.__file__ or "").resolve().is_relative_to(root.resolve()):
        raise PluginError(f"{package} is imported from {code.__file__}, not from {root}", cure="rename the package")
    return code


def modules_of(found: Found, root: Path, names: Iterable[str]) -> list[str]:
    """Those of the module names that belong to the plugin's package."""
    package = package_name(found, root)
    return [name for name in names if name == package or name.startswith(f"{package}.")]


def purge(names: Iterable[str]) -> None:
    """Takes modules out of `sys.modules`, so that the next import reads the files again."""
    for name in names:
        sys.modules.pop(name, None)


@contextmanager
def unwritten(found: Found) -> Generator[None]:
    """While open, Python leaves no compiled files in a plugin's folder: a changed source is never mistaken for them."""
    before = sys.dont_write_bytecode
    sys.dont_write_bytecode = before or found.origin not in _OF_THE_ENVIRONMENT
    try:
        yield
    finally:
        sys.dont_write_bytecode = before


def _place(package: str, root: Path) -> None:
    """Puts the package of a folder into `sys.modules`, running its `__init__.py` when it has one."""
    start = root / "__init__.py"
    spec: ModuleSpec | None = ModuleSpec(package, None, is_package=True)
    if start.is_file():
        spec = importlib.util.spec_from_file_location(package, start, submodule_search_locations=[])
    if spec is None or spec.submodule_search_locations is None:
        raise PluginError(f"{start} cannot be imported")
    spec.submodule_search_locations.append(str(root))
    module = importlib.util.module_from_spec(spec)
    sys.modules[package] = module
    if spec.loader is not None:
        spec.loader.exec_module(module)
