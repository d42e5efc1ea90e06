"""What a slot's model costs, as a person has configured it; nothing is known of any provider's prices."""

from __future__ import annotations

from dataclasses import dataclass

BILLION = 1_000_000_000
"""Costs are whole billionths of the currency: one token of the cheapest model is some dozen of them."""

_MOST = 2**53 - 1


@dataclass(frozen=True, slots=True)
class Price:
    """Of a million tokens of a prompt and of an answer, in units of the currency."""

    prompt: float
    completion: float
    currency: str = "USD"

    def cost(self, prompt: int | None, completion: int | None) -> int | None:
        """Billionths of the currency for so many tokens; None where the endpoint counted none."""
        if prompt is None or completion is None:
            return None
        return min(_MOST, round((prompt * self.prompt + completion * self.completion) * (BILLION // 1_000_000)))
