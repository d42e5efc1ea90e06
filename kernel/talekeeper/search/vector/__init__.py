"""Search by meaning: stored vectors, matrices, scores, and words and meaning in one list."""
