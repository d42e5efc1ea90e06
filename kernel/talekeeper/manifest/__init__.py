"""Reads `plugin.toml` before any code of a plugin runs: bytes → diagnostics with positions, and declared values.

`read_manifest` gives the values or raises with all diagnostics; `check_manifest` gives the diagnostics. Both go through
one function, and so does `validate-plugin`.
"""

from talekeeper.manifest.check import check_manifest, read_manifest
from talekeeper.manifest.declared import Namespace, PluginManifest, SearchTable
from talekeeper.manifest.diagnostic import Diagnostic

__all__ = ["Diagnostic", "Namespace", "PluginManifest", "SearchTable", "check_manifest", "read_manifest"]
