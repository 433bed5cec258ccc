"""The settings of campaigns and of evaluations, as they are declared."""

import pytest

from scripts.settings_tables import DOCS, TABLES, table_of


@pytest.mark.parametrize("heading", TABLES)
def test_the_docs_have_the_settings_as_they_are_declared(heading: str) -> None:
    told = "python -m scripts.settings_tables writes them anew"
    assert f"{heading}\n\n{table_of(TABLES[heading])}\n\n" in DOCS.read_text(encoding="utf-8"), told
