"""What is said about a measure: once, beside its code, for the reference page and for `--explain`."""

from dataclasses import dataclass

__all__ = ["HEADINGS", "Reference"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Everything that a reader may ask of a measure, one field per heading; all are given for every measure.

    formula is in the notation that `leaderboard.metrics.formula` turns into MathML.
    """

    formula: str
    where: str
    range: str
    unit: str
    direction: str
    ties: str
    no_relevant: str
    missing: str
    beyond: str
    unjudged: str
    elsewhere: str
    source: str

    @property
    def mathml(self) -> str:
        """The formula as a <math> element."""
        from leaderboard.metrics.formula import mathml  # only a page needs it, not every import of the measures

        return mathml(self.formula)

    def sections(self) -> tuple[tuple[str, str], ...]:
        """(heading, text) in the order of the page."""
        return tuple((heading, getattr(self, field)) for field, heading in HEADINGS.items())

    def text(self) -> str:
        """All headings as plain text, a line each."""
        return "\n".join(f"{heading}: {text}" for heading, text in self.sections())


HEADINGS = {
    "formula": "Formula",
    "where": "Symbols",
    "range": "Range",
    "unit": "Unit",
    "direction": "Direction",
    "ties": "Ties",
    "no_relevant": "No relevant document",
    "missing": "Missing query",
    "beyond": "Cutoff beyond the list",
    "unjudged": "Unjudged documents",
    "elsewhere": "trec_eval and ir_measures",
    "source": "Source",
}
