import math

import pytest
import sqlalchemy as sa

from leaderboard.campaigns.rules import PRIOR_FIELDS, beta_of, checked_beta
from leaderboard.db import Database
from leaderboard.errors import InvalidFields
from tests.support.world import World

PARTS = {"cost": 0.1, "value": 1.0, "prior": 1 / 600}


def test_beta_is_stated_or_derived_or_left_out() -> None:
    # MATERIAL's own figures: C = 0.0333, V = 1 and a prior of 1/600 give β = 0.0333 · 599.
    assert beta_of(0.0333, 1, 1 / 600) == pytest.approx(19.9467)
    assert checked_beta(**PARTS) == pytest.approx(59.9)
    assert (checked_beta(40), checked_beta(0), checked_beta()) == (40.0, 0.0, None)
    assert checked_beta(cost=0, value=1, prior=0.5) == 0.0


def test_a_rounded_beta_may_stand_beside_its_parts_and_another_one_may_not() -> None:
    assert checked_beta(59.92, **PARTS) == 59.92
    with pytest.raises(InvalidFields, match=r"beta: cost, value and prior give 59\.9; leave β out"):
        checked_beta(60, **PARTS)
    with pytest.raises(InvalidFields, match="beyond what a number can hold"):
        checked_beta(cost=1e300, value=1e-300, prior=0.5)
    with pytest.raises(InvalidFields) as caught:
        checked_beta(cost=1)
    assert set(caught.value.fields) == {"value", "prior"}


@pytest.mark.parametrize("wrong", [{"cost": -0.1}, {"value": 0.0}, {"prior": 0.0}, {"prior": 1.0}])
def test_a_number_out_of_its_bounds_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidFields, match="|".join(wrong)):
        checked_beta(**PARTS | wrong)


NUMBERS = (-math.inf, -1.0, -5e-324, 0.0, 5e-324, 0.5, 1 - 2**-53, 1.0, 2.0, 1.7976931348623157e308, math.inf)


@pytest.mark.parametrize("name", PRIOR_FIELDS)
def test_the_database_refuses_what_the_rule_refuses(database: Database, world: World, name: str) -> None:
    least, most = 5e-324 if name in {"value", "prior"} else 0.0, 1 - 2**-53 if name == "prior" else NUMBERS[-2]
    for number in NUMBERS:
        statement = sa.text(f'UPDATE campaign SET "{name}" = :number').bindparams(number=number)
        with database.engine.connect() as connection:
            if least <= number <= most:
                assert connection.execute(statement).rowcount == 1, number
            else:
                with pytest.raises(sa.exc.IntegrityError):
                    connection.execute(statement)
