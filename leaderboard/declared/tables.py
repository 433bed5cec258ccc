"""The table of settings in docs, made from their model."""

from leaderboard.declared.forms import as_text
from leaderboard.declared.inputs import Inputs, is_required, shown_of


def table_of(model: type[Inputs]) -> str:
    """In Markdown: the name in the API and in manifests, the option, what holds where it is left out, what it says."""
    lines = ["| setting | option | default | |", "|---|---|---|---|"]
    for name, field in model.model_fields.items():
        option = shown_of(field).option or f"--{name.replace('_', '-')}"
        default = "required" if is_required(field) else as_text(field.default)
        words = f"{field.title}. {field.description or ''}".replace("|", "\\|").strip()
        shown = {True: "yes", False: "no", "": "none"}.get(default, default)
        lines.append(f"| `{name}` | `{option}` | {shown} | {words} |")
    return "\n".join(lines)
