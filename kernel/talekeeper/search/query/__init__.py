"""One query: scope, postings, candidates, neighbours, and the ranking with its explanation."""
