"""What one turn may cost beyond its prompt, and how a prompt's room is shared. Each number with its reason."""

from __future__ import annotations

CALLS = 16
"""Tool calls of a turn. A narrator that looks things up and rolls dice needs three or four; so many are a loop."""

ROUNDS = 8
"""Questions to the model in a turn, the last one without tools, so that it has to narrate."""

TOOL_SECONDS = 60.0
"""Time of all tools together: six that use up their own deadline."""

TOOL_BYTES = 64 * 1024
"""Results given back to the model, together: more than the context of most local models holds."""

RESULT_BYTES = 24 * 1024
"""One result: a whole answer of memory-search with twenty excerpts is under 20 KiB."""

ARGUMENT_BYTES = 64 * 1024
"""The arguments of one call, as the model wrote them."""

SEGMENTS_SHARE = 0.5
"""The most of the context that segments may have reserved: what was just said matters more to a narrator."""

SHRINK = 0.4
"""What is left of the budget once the endpoint has said that the prompt was too long. Scripts such as Cyrillic and Thai
take up to twice what is estimated, and local servers are often started with half the context a slot says."""

CONTEXT = 8192
REPLY = 1024
"""Tokens of context and reply that a dry run reckons with where no model is configured: a slot's own defaults."""

MESSAGE_TOKENS = 4
"""What a message costs beside its text, by the chat formats of the usual models."""

WAIT = 2.0
"""Seconds to wait for another turn of the session: enough where one ends as the next begins, not for a whole one."""
