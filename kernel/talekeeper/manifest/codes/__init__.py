"""Every rule of the manifest by its code.

TK0 file, TK1 identity, TK2 contributions, TK3 across files, TK4 packaging, TK5 code, TK9 style. A rule is used by its
name (`codes.contributions.UNKNOWN_KEY`); `BY_ID` serves `--explain` and the reference page.
"""

from types import MappingProxyType

from talekeeper.manifest.codes import across, code, contributions, file, identity, packaging, style

BY_ID = MappingProxyType(
    {it.id: it for family in (file, identity, contributions, across, packaging, code, style) for it in family.ALL}
)
