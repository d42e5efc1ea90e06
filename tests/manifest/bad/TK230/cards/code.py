"""Nothing imports it."""
