"""How an exercise's points come about; light, for pages that show it."""

IDEA = 0.8  # share of the points for the idea; what is asked beside it shares the rest


def left_of_the_idea(met: int, asked: int) -> float:
    """Return what is left of the idea's points where so many of what is also asked are met."""
    return IDEA + (1 - IDEA) * met / asked if asked else 1.0
