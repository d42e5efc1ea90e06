"""What holds for a manifest beyond the shape of its tables, as functions from a context to findings."""
