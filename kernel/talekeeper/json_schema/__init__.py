"""JSON Schema (2020-12): is a schema valid, does a value fit it, and what is wrong, in sentences for people.

jsonschema-rs does the work; it is loaded with the first question. No schema is ever fetched.
"""

from typing import TYPE_CHECKING

from talekeeper.faces import lazy_face

if TYPE_CHECKING:
    from talekeeper.json_schema.structure import (
        endless,
        item_types,
        properties,
        references,
        required,
        resolve,
        subschemas,
        types,
    )
    from talekeeper.json_schema.validate import DIALECT, InvalidSchema, Validator, fits, invalid_schema, schema_fault
else:
    __getattr__ = lazy_face(__name__)

__all__ = [
    "DIALECT",
    "InvalidSchema",
    "Validator",
    "endless",
    "fits",
    "invalid_schema",
    "item_types",
    "properties",
    "references",
    "required",
    "resolve",
    "schema_fault",
    "subschemas",
    "types",
]
