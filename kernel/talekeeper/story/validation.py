"""Checks a record against its namespace's JSON Schema and says in one sentence which property is wrong."""

from __future__ import annotations

import json

from talekeeper.db import dumps
from talekeeper.errors import ParameterError
from talekeeper.json_schema import schema_fault
from talekeeper.manifest import Namespace


def check_value(namespace: Namespace, value: object) -> str:
    """The record's canonical JSON; raises `ParameterError` whose field is `plugin/namespace/property`."""
    document = dumps(value, namespace.path)
    plain = json.loads(document)
    if not isinstance(plain, dict):
        raise ParameterError(namespace.path, "a record is a JSON object", cure='write it as {"name": value, …}')
    fault = schema_fault(namespace.schema, plain) if namespace.schema else None
    if fault is not None:
        place = f"{namespace.path}/{fault[0]}".rstrip("/")
        raise ParameterError(place, fault[1], cure=f"see the record schema of {namespace.path}")
    return document
