"""The parts of verify_session.py: who narrates, what is recorded and played, and what must have come of it."""
