"""Values and schemas held against JSON Schema 2020-12 by jsonschema-rs.

Its regular expressions take time in proportion to the text, it answers values and references however deep, and it is
told never to fetch a schema. Schemas and values are plain JSON: dicts, lists, texts, numbers, truth values and None.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_KEPT = 64

# By the identity of the schema, which is kept beside its validator so that the identity stays taken.
_validators: OrderedDict[int, tuple[Mapping[str, Any], Validator]] = OrderedDict()


class InvalidSchema(ValueError):
    """The schema cannot be used: it is no schema, or refers to what is not in it. The text says why."""


class Validator:
    """A schema ready to check values with. Raises InvalidSchema."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        import jsonschema_rs as rs  # noqa: PLC0415 - a listing, or a turn without records, needs none of it

        self._schema = schema
        try:
            self._checker = rs.Draft202012Validator(
                dict(schema), validate_formats=False, offline=True, pattern_options=rs.RegexOptions()
            )
        except (rs.ValidationError, rs.ReferencingError) as error:
            raise InvalidSchema(error.message) from None

    def fits(self, value: Any) -> bool:
        """Whether the schema accepts the value."""
        return self._checker.is_valid(value)

    def fault(self, value: Any) -> tuple[str, str] | None:
        """As `schema_fault`."""
        try:
            if self._checker.is_valid(value):
                return None
            from talekeeper.json_schema.messages import explain  # noqa: PLC0415 - most values fit

            return explain(self._schema, value, self._checker.iter_errors(value))
        except UnicodeEncodeError:
            return "", "has half a surrogate pair in a text"
        except ValueError:
            return "", "holds a value that JSON does not have"


def schema_fault(schema: Mapping[str, Any], value: Any) -> tuple[str, str] | None:
    """Where a value does not fit a schema, as property/property, '' for the whole, and a sentence of how."""
    return _validator(schema).fault(value)


def fits(schema: Mapping[str, Any], value: Any) -> bool:
    """Whether a schema accepts a value."""
    return _validator(schema).fits(value)


def invalid_schema(schema: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Every place where a schema breaks the metaschema, with a sentence, as `schema_fault` gives one; sorted."""
    import jsonschema_rs as rs  # noqa: PLC0415 - as in Validator

    if schema.get("$schema", DIALECT) == DIALECT and rs.meta.is_valid(dict(schema)):
        return []
    from talekeeper.json_schema.messages import place_of, sentence  # noqa: PLC0415 - most schemas are valid

    errors = rs.iter_errors({"$ref": DIALECT}, dict(schema), validate_formats=False, offline=True)
    return sorted({(place_of(it), sentence({}, schema, it)) for it in errors})


def _validator(schema: Mapping[str, Any]) -> Validator:
    known = _validators.get(id(schema))
    if known is None:
        known = (schema, Validator(schema))
        _validators[id(schema)] = known
        if len(_validators) > _KEPT:
            _validators.popitem(last=False)
    return known[1]
