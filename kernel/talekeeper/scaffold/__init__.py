"""A new plugin's project: a manifest, a record schema, code if wished, and tests that pass from the first minute."""

from talekeeper.scaffold.project import check_id, package_name, write_project

__all__ = ["check_id", "package_name", "write_project"]
