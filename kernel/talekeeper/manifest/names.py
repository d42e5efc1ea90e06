"""The patterns of the names and texts a manifest has.

`name_faults` says in words what is wrong with a value that breaks one; the patterns themselves are for machines.
"""

from __future__ import annotations

PLUGIN_ID = "^[a-z][a-z0-9-]{0,63}$"
NAMESPACE = "^[a-z][a-z0-9_]{0,63}$"
SETTING = "^[a-z][a-z0-9_]{0,39}$"
TOOL = "^[a-zA-Z0-9_-]{1,64}$"
LOCAL = "^[a-z][a-z0-9_-]{0,63}$"
MODULE = "^[A-Za-z_][A-Za-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)*$"
READ = "^[a-z][a-z0-9-]{0,63}/[a-z][a-z0-9_]{0,63}$"
HOST = "^[a-z0-9]([a-z0-9-]*[a-z0-9])?([.][a-z0-9]([a-z0-9-]*[a-z0-9])?)*(:[0-9]{1,5})?$"
TIME = "^([01][0-9]|2[0-3]):[0-5][0-9]$"
LINE = "^[^\\u0000-\\u001f\\u007f\\u0085\\u2028\\u2029]*$"
PROSE = "^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f]*$"


def tool_key(name: str) -> str:
    """What tool names are compared by: endpoints fold case or turn hyphens into underscores, so these make one name."""
    return name.casefold().replace("_", "-")
