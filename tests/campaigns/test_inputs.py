"""The settings of campaigns and of evaluations, as they are declared."""

from pathlib import Path

import pytest

from leaderboard.campaigns.inputs import CampaignSettings
from leaderboard.declared.inputs import Inputs, table_of
from leaderboard.evaluations.inputs import EvaluationSettings

DOCS = Path(__file__).parents[2] / "docs" / "organising.md"


@pytest.mark.parametrize("settings", [CampaignSettings, EvaluationSettings])
def test_the_docs_have_the_settings_as_they_are_declared(settings: type[Inputs]) -> None:
    assert table_of(settings) in DOCS.read_text(encoding="utf-8")
