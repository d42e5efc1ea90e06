"""A new plugin's project: a manifest, a record schema, code if wished, and tests that pass from the first minute."""

from talekeeper.scaffold.naming import check_id, package_name
from talekeeper.scaffold.writing import write_project

__all__ = ["check_id", "package_name", "write_project"]
