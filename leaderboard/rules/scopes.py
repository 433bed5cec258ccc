"""What an API token may be used for."""

from enum import StrEnum

__all__ = ["Scope"]


class Scope(StrEnum):
    """Every token reads what its account sees as a participant; the others are chosen when it is made."""

    READ = "read"
    SUBMIT = "submit"  # submits, chooses and withdraws runs, and says what its systems are
    MANAGE = "manage"  # makes teams, joins them and says who is in them: that outlives the token
    ORGANISE = "organise"  # sees and does what the account may as an organiser
