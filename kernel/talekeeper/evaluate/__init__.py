"""Recall measured on sets of questions: sets on disk → a throw-away home → ranked lists → scores."""
