"""Settings in TOML: parsed with the place of every key, looked up by type, checked against the keys there are. No I/O.

Manifests, `talekeeper.toml`, presets and worlds are all read with it.
"""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.config.positions import KeyPath, Places, Span, pointer
    from talekeeper.config.tables import MISSPELT, Key, Table, did_you_mean, key_faults, nearest
    from talekeeper.config.toml import TOML_DEPTH, Fault, FaultKind, parse, read_toml
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "MISSPELT",
    "TOML_DEPTH",
    "Fault",
    "FaultKind",
    "Key",
    "KeyPath",
    "Places",
    "Span",
    "Table",
    "did_you_mean",
    "key_faults",
    "nearest",
    "parse",
    "pointer",
    "read_toml",
]
