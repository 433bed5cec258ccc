"""The settings of campaigns, as they are declared."""

from pathlib import Path

from leaderboard.campaigns.inputs import CampaignSettings
from leaderboard.declared.inputs import table_of

DOCS = Path(__file__).parents[2] / "docs" / "organising.md"


def test_the_docs_have_the_settings_as_they_are_declared() -> None:
    assert table_of(CampaignSettings) in DOCS.read_text(encoding="utf-8")
