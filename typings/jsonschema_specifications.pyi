# jsonschema-specifications, as far as it is used here: the registry of the metaschemas.

from typing import Any

from referencing import Registry

REGISTRY: Registry[Any]
