"""Settings from the environment, and where the product's own folders are."""

import re

import pytest

from leaderboard.config import Config, folder
from leaderboard.errors import BadInput
from tests.support.shared import REPOSITORY


def test_what_is_not_set_has_its_default() -> None:
    assert Config.from_environment({"HOME": "anywhere"}) == Config()


def test_each_setting_is_read_as_what_it_is() -> None:
    given = {"LEADERBOARD_STORE_URL": "runs", "LEADERBOARD_JOB_SECONDS": "60", "LEADERBOARD_SECURE_COOKIES": "off"}
    config = Config.from_environment(given)
    assert (config.store_url, config.job_seconds, config.secure_cookies) == ("runs", 60, False)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("LEADERBOARD_JOB_SECONDS", "soon", "LEADERBOARD_JOB_SECONDS: expected a whole number, found 'soon'"),
        ("LEADERBOARD_JOB_BYTES", "-1", "LEADERBOARD_JOB_BYTES: expected a whole number, found '-1'"),
        ("LEADERBOARD_SECURE_COOKIES", "perhaps", "LEADERBOARD_SECURE_COOKIES: expected yes or no, found 'perhaps'"),
        (
            "LEADERBOARD_LEASE_SECONDS",
            "0",
            "LEADERBOARD_LEASE_SECONDS: expected a whole number, from 2 to 3,600, found 0",
        ),
        ("LEADERBOARD_TRUSTED_PROXIES", "99", "LEADERBOARD_TRUSTED_PROXIES: .* from 0 to 10, found 99"),
        ("LEADERBOARD_JOB_SECONDS", "0", "LEADERBOARD_JOB_SECONDS: expected a whole number, at least 1, found 0"),
        ("LEADERBOARD_SECRET_KEY", "hush" * 7, "LEADERBOARD_SECRET_KEY: expected at least 32 characters, found 28$"),
        (
            "LEADERBOARD_SECRETKEY",
            "x" * 64,
            "LEADERBOARD_SECRETKEY is no setting; did you mean LEADERBOARD_SECRET_KEY?",
        ),
        ("LEADERBOARD_DB_URL", "sqlite:///x", "did you mean LEADERBOARD_DATABASE_URL?"),
        ("LEADERBOARD_STORE_URL", "store\nLEADERBOARD_HOSTS=x", "LEADERBOARD_STORE_URL: a line break in it"),
        ("LEADERBOARD_HOSTS", "a b", "LEADERBOARD_HOSTS: expected names such as"),
        ("LEADERBOARD_PUBLIC_URL", "nowhere", "LEADERBOARD_PUBLIC_URL: expected an address"),
        ("LEADERBOARD_SMTP_URL", "mail:25", "LEADERBOARD_SMTP_URL: expected smtp://"),
    ],
)
def test_what_can_not_be_read_is_refused_with_the_variables_name(name: str, text: str, says: str) -> None:
    with pytest.raises(BadInput, match=says):
        Config.from_environment({name: text})


@pytest.mark.parametrize("name", ["TOKEN", "SERVER", "TEST_POSTGRES_URL", "SHARED", "SERVICE_HOST", "PORT_8000_TCP"])
def test_a_name_that_others_give_is_not_refused(name: str) -> None:
    """A container host may set such names for every program of a service that is called leaderboard."""
    assert Config.from_environment({f"LEADERBOARD_{name}": "x"}) == Config()


def test_every_default_is_within_its_bounds() -> None:
    assert Config.from_environment(Config().as_environment()) == Config()


@pytest.mark.parametrize("name", ["templates", "migrations", "seeds", "docs"])
def test_the_products_folders_are_found(name: str) -> None:
    assert folder(name).is_dir()


def test_the_readme_lists_every_setting_with_its_default() -> None:
    rows = re.findall(r"^\| `(LEADERBOARD_\w+)` \| `?(.*?)`? \|", (REPOSITORY / "README.md").read_text(), re.MULTILINE)
    defaults = {name: default or "none" for name, default in Config().as_environment().items()}
    assert dict(rows) == defaults
