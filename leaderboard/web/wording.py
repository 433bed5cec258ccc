"""Settings in words, the same on every page."""

from collections.abc import Iterable

from flask import Flask

__all__ = ["aligned", "init_app", "number", "prior"]


def init_app(app: Flask) -> None:
    for written in (aligned, number, prior):
        app.jinja_env.filters[written.__name__] = written


def number(value: float) -> str:
    """A setting as one would write it: `20`, `0.0333`, `19.9467`; six digits at most."""
    return f"{value:.6g}".replace("-", "−")


def aligned(values: Iterable[float]) -> list[str]:
    """A column of settings or scores: each as `number` writes it, with the decimals of the one that has the most."""
    texts = [number(value) for value in values]
    if any("e" in text or not text[-1].isdigit() for text in texts):
        return texts
    places = max(len(text.partition(".")[2]) for text in texts) if texts else 0
    if not places:
        return texts
    parts = [text.partition(".") for text in texts]
    return [f"{whole}.{decimals.ljust(places, '0')}" for whole, _, decimals in parts]


def prior(value: float) -> str:
    """`1/600` where it is one of a whole number, else its digits."""
    inverse = 1.0 / value
    whole = round(inverse)
    return f"1/{whole:,}" if whole > 1 and abs(inverse - whole) < 1e-6 * whole else number(value)
