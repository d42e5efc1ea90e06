"""Cannot be imported."""

raise RuntimeError("the tide tables are missing")
