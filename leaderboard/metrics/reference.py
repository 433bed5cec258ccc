"""The reference of a measure, read from the docstring of its function: for the page of measures and for `--explain`.

Such a docstring begins with a summary. A paragraph follows with one line for each of the headings below, which goes on
in indented lines. What comes after, for those who call the function, is no part of the reference.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import compress
from typing import Any

HEADINGS = (
    "Formula",
    "Symbols",
    "Range",
    "Unit",
    "Direction",
    "Ties",
    "No relevant document",
    "Missing query",
    "Cutoff beyond the list",
    "Unjudged documents",
    "trec_eval and ir_measures",
    "Source",
)


@dataclass(frozen=True, slots=True)
class Reference:
    """What a reader may ask of a measure: a summary, and a text for each of HEADINGS, in their order.

    The formula is in the plain notation that `mathml` turns into MathML.
    """

    summary: str
    sections: Mapping[str, str]

    @property
    def mathml(self) -> str:
        """The formula as a <math> element."""
        return mathml(self.sections["Formula"])


@cache
def reference_of(compute: Callable[..., Any], unit: str, direction: str) -> Reference:
    """The reference in the function's docstring, with the texts for unit and direction, which the measure's record has.

    Raises ValueError for a heading that is not among HEADINGS, and where one is missing.
    """
    from inspect import cleandoc  # only a page and --explain need it

    summary, details, *_ = cleandoc(compute.__doc__ or "").split("\n\n")
    texts = {"Unit": unit, "Direction": direction}
    for line in re.sub(r"\n +", " ", details).split("\n"):
        heading, _, texts[heading] = line.partition(": ")
    if wrong := texts.keys() ^ HEADINGS:
        raise ValueError(f"{compute.__name__}: these headings are missing or unknown: {', '.join(sorted(wrong))}")
    return Reference(" ".join(summary.split("\n")), {heading: texts[heading] for heading in HEADINGS})


PIECE = r" \(|\d+(?:\.\d+)?|[^\W\d_]\w*?(?=_|\W|$)|[^\w\s]|_"  # a bracket right after a name is its argument
LIMITED = {"sum": "∑", "prod": "∏", "max": "max", "min": "min"}
END = "\n"
CLOSING = {"(": ")", "{": "}", "|": "|", "⌈": "⌉"}
ESCAPED = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;"})  # the module html imports slowly


def mathml(formula: str) -> str:
    """The formula as one <math> element, with the plain notation as its alternative text.

        AP@k = (sum_{i=1}^{k} rel_i · P@i) / R

    `a / b` is a fraction (brackets around a side only group it and are not shown), `_` and `^` take one symbol or {…},
    sum, prod, max and min carry their limits above and below, a name right before ( or { is a function.
    """
    body = _Reader(formula).row(END)
    return (
        '<math xmlns="http://www.w3.org/1998/Math/MathML" display="block" '
        f'alttext="{formula.translate(ESCAPED)}">{body}</math>'
    )


class _Reader:
    """Reads pieces from left to right; each method returns the markup of what it has read."""

    def __init__(self, formula: str) -> None:
        self._pieces = [END, *reversed(re.findall(PIECE, formula))]

    def _takes(self, *signs: str) -> str:
        """The next piece, taken, if it is one of these; else nothing."""
        return self._pieces.pop() if self._pieces[-1] in signs else ""

    def row(self, end: str) -> str:
        """Everything up to `end`, which is taken too."""
        markup, word_before = "", False
        while not self._takes(end):
            is_word = self._pieces[-1][0].isalpha()
            markup += '<mspace width="0.3em"/>' * (is_word and word_before)
            word_before = is_word
            bare, whole = self._operand()
            if self._takes("/"):
                whole = f"<mfrac><mrow>{bare}</mrow><mrow>{self._operand()[0]}</mrow></mfrac>"
            markup += whole
        return markup

    def _operand(self) -> tuple[str, str]:
        """(without its brackets, as it stands)."""
        piece = self._pieces.pop().strip()
        if piece == "(":
            inside = self.row(")")
            return inside, f"<mrow><mo>(</mo>{inside}<mo>)</mo></mrow>"
        if piece in CLOSING:
            whole = self._bracketed(piece)
        elif piece[0].isalpha():
            whole = self._name(piece)
        else:
            whole = self._scripts(_symbol(piece)) if piece[0].isdigit() else f"<mo>{piece.translate(ESCAPED)}</mo>"
        return whole, whole

    def _bracketed(self, opening: str) -> str:
        inside = self.row(CLOSING[opening])
        return f"<mrow><mo>{opening}</mo>{inside}<mo>{CLOSING[opening]}</mo></mrow>"

    def _name(self, name: str) -> str:
        big = name in {"sum", "prod"}
        symbol = f"<mo>{LIMITED[name]}</mo>" if big else _symbol(name)
        markup = self._scripts(symbol, ("under", "over") if name in LIMITED else ("sub", "sup"))
        if self._takes("@"):
            bracket = self._takes(*CLOSING)
            at = self._bracketed(bracket) if bracket else self._scripts(_symbol(self._pieces.pop()))
            markup = f"<mrow>{markup}<mo>@</mo>{at}</mrow>"
        bracket = "" if big else self._takes("(", "{")
        return f"<mrow>{markup}{self._bracketed(bracket)}</mrow>" if bracket else markup

    def _scripts(self, base: str, sides: tuple[str, str] = ("sub", "sup")) -> str:
        scripts = self._script("_"), self._script("^")
        tag = "".join(compress(sides, scripts))
        return f"<m{tag}>{base}{''.join(scripts)}</m{tag}>" if tag else base

    def _script(self, sign: str) -> str:
        if not self._takes(sign):
            return ""
        return f"<mrow>{self.row('}')}</mrow>" if self._takes("{") else _symbol(self._pieces.pop())


def _symbol(piece: str) -> str:
    return f"<mn>{piece}</mn>" if piece[:1].isdigit() else f"<mi>{piece.translate(ESCAPED)}</mi>"
