"""Labels beside the ends of lines, moved apart where they would lie on each other."""

from collections.abc import Sequence

__all__ = ["spread"]


def spread(values: Sequence[float], lowest: float, highest: float, share: float) -> list[float]:
    """Where the labels of these values go, in the same order and units: at least `share` of the axis apart, as near to
    their values as that allows, and between `lowest` and `highest` as far as they all fit."""
    apart = share * (highest - lowest)
    order = sorted(range(len(values)), key=values.__getitem__)
    places = [values[one] for one in order]
    for _ in range(len(places)):
        for low in range(len(places) - 1):
            overlap = places[low] + apart - places[low + 1]
            if overlap > 0:
                places[low] -= overlap / 2
                places[low + 1] += overlap / 2
    for one in reversed(range(len(places))):
        places[one] = min(places[one], highest - apart * (len(places) - 1 - one))
    for one in range(len(places)):
        places[one] = max(places[one], lowest + apart * one)
    found = [0.0] * len(values)
    for one, place in zip(order, places, strict=True):
        found[one] = place
    return found
