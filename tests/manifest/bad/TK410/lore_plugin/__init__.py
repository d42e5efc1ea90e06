"""A plugin of data alone."""
