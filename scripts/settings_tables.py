"""Writes the tables of settings in docs/organising.md anew from their declarations.

python -m scripts.settings_tables
"""

from pathlib import Path

from leaderboard.campaigns.inputs import CampaignSettings, NewCampaign
from leaderboard.declared.inputs import Inputs, as_text, shown_of
from leaderboard.evaluations.inputs import EvaluationSettings, NewEvaluation

DOCS = Path(__file__).parents[1] / "docs" / "organising.md"
TABLES: dict[str, tuple[type[Inputs], type[Inputs]]] = {
    "## The settings of an evaluation": (EvaluationSettings, NewEvaluation),
    "## The settings of a campaign": (CampaignSettings, NewCampaign),
}


def table_of(models: tuple[type[Inputs], type[Inputs]]) -> str:
    """In Markdown: the name in the API, the option, the default of a new one, what it says."""
    model, new = models
    lines = ["| setting | option | default | |", "|---|---|---|---|"]
    for name, field in model.model_fields.items():
        shown = shown_of(field)
        option = shown.option or f"--{name.replace('_', '-')}"
        default = "required" if field.is_required() else as_text(new.model_fields[name].default)
        default = {True: "yes", False: "no", "": "none"}.get(default, default)
        words = f"{field.title}. {field.description or ''}".replace("|", "\\|").strip()
        choices = [f"`{as_text(value)}` ({meaning})" for value, meaning in (shown.words or {}).items()]
        if choices:
            words += f" One of {', '.join(choices)}."
        lines.append(f"| `{name}` | `{option}` | {default} | {words} |")
    return "\n".join(lines)


def main() -> None:
    text = DOCS.read_text(encoding="utf-8")
    for heading, models in TABLES.items():
        before, _, rest = text.partition(f"{heading}\n\n")
        _, _, after = rest.partition("\n\n")
        text = f"{before}{heading}\n\n{table_of(models)}\n\n{after}"
    DOCS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
