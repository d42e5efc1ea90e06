"""TK1: who the plugin is and which versions it is for."""

from talekeeper.manifest.diagnostic import Code

PLUGIN_ID = Code(
    "TK101",
    "error",
    "a plugin id is malformed",
    "An id begins with a letter a–z and goes on with letters a–z, digits and hyphens, 64 characters at most. Letters "
    "of other alphabets that look the same are refused, so that no plugin can pass itself off as another.",
    "Use the plain Latin name that the entry point or the folder has, for example `lore-book`.",
)
VERSION = Code(
    "TK102",
    "error",
    "the version is not a PEP 440 version",
    "`version` follows PEP 440, the versioning of Python packages, so that versions can be compared.",
    "Write for example `0.1.0`, `1.2` or `2.0rc1`.",
)
NEWER_LEVEL = Code(
    "TK103",
    "warning",
    "a key this host does not know, in a manifest for a newer level",
    "`api` says for which manifest level the file was written. A host of an older level skips the keys it does not "
    "know and loads the rest; it does not refuse the plugin.",
    "Nothing has to be done if the plugin is useful without that key. Otherwise raise `requires-host`.",
)
HOST_SPECIFIER = Code(
    "TK104",
    "error",
    "requires-host is not a version specifier",
    "`requires-host` is a comma-separated list of PEP 440 specifiers, each an operator and a version.",
    "Write for example `>=0.1,<1`.",
)
HOST_EXCLUDED = Code(
    "TK105",
    "warning",
    "this Talekeeper is outside requires-host",
    "The manifest is sound, but the running Talekeeper is not among the versions it asks for. Such a plugin is "
    "listed as incompatible and stays off.",
    "Install another version of Talekeeper, or widen `requires-host` after trying the plugin with this one.",
)
NEEDS_ITSELF = Code(
    "TK106",
    "error",
    "a plugin names itself among the plugins it needs",
    "`requires` and `optional` list other plugins.",
    "Remove the plugin's own id from the list.",
)
NEEDED_TWICE = Code(
    "TK107",
    "error",
    "a plugin is both required and optional",
    "A plugin in `requires` must be active, one in `optional` is used when present; it cannot be both.",
    "Keep it in `requires` if the plugin does not work without it, else in `optional`.",
)
MODULE_NAME = Code(
    "TK108",
    "error",
    "module is not a Python module name",
    "`module` names a module inside the plugin's package with identifiers and dots: no path, no `.py`, no package "
    "prefix.",
    'For a file `code.py` beside the manifest write `module = "code"`.',
)
SAME_ID = Code(
    "TK109",
    "error",
    "two plugins have the same id",
    "Ids are unique among the plugins of one host: it takes the one it finds first, blocks the other, and names both "
    "places.",
    "Rename one of them, or remove the copy that is not wanted.",
)

ALL = (
    PLUGIN_ID,
    VERSION,
    NEWER_LEVEL,
    HOST_SPECIFIER,
    HOST_EXCLUDED,
    NEEDS_ITSELF,
    NEEDED_TWICE,
    MODULE_NAME,
    SAME_ID,
)
