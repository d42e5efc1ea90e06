"""Only its being there counts."""
