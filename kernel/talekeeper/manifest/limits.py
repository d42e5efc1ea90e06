"""The limits of a manifest and its files, each stated once, for patterns, model, rules, messages and code texts."""

LEVEL = 1
"""The manifest level of this host. A manifest says in `api` which level it was written for; a rule introduced with a
later level holds for manifests of that level only."""

MANIFEST_KIB = 64
SCHEMA_KIB = 256
SEED_MIB = 16
MEMBER_MIB = 64
"""One unpacked file of a wheel."""

NAME_LENGTH = 64
KEY_LENGTH = 40
"""The key of a setting."""
MODULE_LENGTH = 200
FILE_LENGTH = 255
LINE_LENGTH = 120
PROSE_LENGTH = 2000
LEAST_DESCRIPTION = 20
"""Characters from which a tool's description says something."""

SEED_KEY_LENGTH = 200
SESSION_SEED_LINES = 200
