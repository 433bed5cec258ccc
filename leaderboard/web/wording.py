"""Settings in words, the same on every page."""

from flask import Flask

__all__ = ["init_app", "number", "prior"]


def init_app(app: Flask) -> None:
    for written in (number, prior):
        app.jinja_env.filters[written.__name__] = written


def number(value: float) -> str:
    """A setting as one would write it: `20`, `0.0333`, `19.9467`; six digits at most."""
    return f"{value:.6g}".replace("-", "−")


def prior(value: float) -> str:
    """`1/600` where it is one of a whole number, else its digits."""
    inverse = 1.0 / value
    whole = round(inverse)
    return f"1/{whole:,}" if whole > 1 and abs(inverse - whole) < 1e-6 * whole else number(value)
