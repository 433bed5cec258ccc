"""What is said about a measure: once, beside its code, for the reference page and for `--explain`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from leaderboard.metrics.measure import Family

__all__ = ["HEADINGS", "Reference"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Everything that a reader may ask of a measure, one field per heading; all are given for every measure.

    formula is in the notation that `leaderboard.metrics.formula` turns into MathML.
    """

    formula: str
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

    def sections(self) -> tuple[tuple[str, str], ...]:
        """(heading, text) in the order of the page."""
        return tuple((heading, getattr(self, field)) for field, heading in HEADINGS.items())

    def text(self, family: "Family") -> str:
        """The whole reference as plain text: name, summary, parameters, then every heading."""
        lines = [f"{family.name}: {family.title}", family.summary]
        parameters = [*family.parameters, *([family.cutoff] if family.cutoff else [])]
        for parameter in parameters:
            name = f"@{family.cutoff.example}" if parameter is family.cutoff and family.cutoff else parameter.name
            default = "" if parameter.default is None else f" (default {parameter.write(parameter.default)})"
            lines.append(f"  {name}: {parameter.meaning}; {parameter.expected}{default}")
        lines.extend(f"{heading}: {text}" for heading, text in self.sections())
        lines.append(f"Aggregation: {family.aggregation.name}")
        names = ", ".join(form.name for form in family.trec_eval)
        lines.append(f"trec_eval's name: {names or 'none'}")
        return "\n".join(lines)


HEADINGS = {
    "formula": "Formula",
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
