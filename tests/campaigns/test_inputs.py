"""The settings of campaigns and of evaluations, as they are declared."""

from pathlib import Path

import pytest

from leaderboard.campaigns.inputs import CampaignSettings
from leaderboard.declared.inputs import Inputs, as_text, is_required, shown_of
from leaderboard.evaluations.inputs import EvaluationSettings

DOCS = Path(__file__).parents[2] / "docs" / "organising.md"


def _table_of(model: type[Inputs]) -> str:
    """In Markdown: the name in the API, the option, the default, what it says."""
    lines = ["| setting | option | default | |", "|---|---|---|---|"]
    for name, field in model.model_fields.items():
        option = shown_of(field).option or f"--{name.replace('_', '-')}"
        default = "required" if is_required(field) else as_text(field.default)
        words = f"{field.title}. {field.description or ''}".replace("|", "\\|").strip()
        choices = [f"`{as_text(value)}` ({said})" for value, said in (shown_of(field).words or {}).items()]
        if choices:
            words += f" One of {', '.join(choices)}."
        shown = {True: "yes", False: "no", "": "none"}.get(default, default)
        lines.append(f"| `{name}` | `{option}` | {shown} | {words} |")
    return "\n".join(lines)


@pytest.mark.parametrize("settings", [CampaignSettings, EvaluationSettings])
def test_the_docs_have_the_settings_as_they_are_declared(settings: type[Inputs]) -> None:
    assert _table_of(settings) in DOCS.read_text(encoding="utf-8")
