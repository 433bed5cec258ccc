"""Checks of single values for the line-by-line reader: each gives the value or raises ValueError with what is wrong."""

import math
import re

__all__ = ["DECISIONS", "decision", "grade", "identifier", "score", "shown"]

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
CONTROL = re.compile(r"[\x00-\x1f]")
DECISIONS = ("Y", "N")
SHOWN_CHARACTERS = 60


def shown(text: str) -> str:
    """A value as a message shows it: on one line and not too long."""
    text = "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + "…"


def identifier(text: str) -> str:
    if CONTROL.search(text):
        raise ValueError(f"{shown(text)} holds a control character")
    return text


def score(text: str) -> float:
    value = float(text) if NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise ValueError(f"score {shown(text)} is no finite number")
    return value


def grade(text: str) -> int:
    if not INTEGER.fullmatch(text):
        raise ValueError(f"grade {shown(text)} is no integer")
    return int(text)


def decision(text: str) -> str:
    if text not in DECISIONS:
        raise ValueError(f"decision {shown(text)} is neither Y nor N")
    return text
