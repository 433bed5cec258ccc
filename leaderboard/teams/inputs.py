"""What people and programs give of teams and systems, each declared once."""

from typing import Annotated

from pydantic import AfterValidator

from leaderboard.declared.inputs import ADDRESS, Confirm, Inputs, Shown, Slug, Whole, changes_of, setting, text_of
from leaderboard.submissions.rules import SystemKind
from leaderboard.teams.rules import Role
from leaderboard.texts import web_address_problem

LONGEST_DESCRIPTION = 2000  # characters, of a team; of a system twice as many
KINDS = {
    SystemKind.AUTOMATIC: "Automatic: no person had a hand in its runs",
    SystemKind.MANUAL: "Manual: a person chose queries or documents",
    SystemKind.BASELINE: "Baseline: shown on boards beside the others, pinned and never ranked",
}


def _web_address(url: str) -> str:
    if problem := url.strip() and web_address_problem(url.strip()):
        raise ValueError(problem)
    return url.strip()


WebAddress = Annotated[str, AfterValidator(_web_address)]


class SystemSettings(Inputs):
    """What is said of a system; its name stays."""

    kind: SystemKind = setting(
        "Kind",
        "A baseline is shown on boards and never ranked.",
        default=SystemKind.AUTOMATIC,
        shown=Shown(words=KINDS),
    )
    description: Annotated[str, text_of(2 * LONGEST_DESCRIPTION)] = setting(
        "Description", "What it is.", default="", shown=Shown(lines=4)
    )
    code_url: WebAddress = setting(
        "Address of its code", "Such as https://example.org/code", default="", shown=Shown("--code")
    )
    paper_url: WebAddress = setting(
        "Address of its paper", "Such as https://example.org/paper.pdf", default="", shown=Shown("--paper")
    )


class NewSystem(SystemSettings):
    """What a team says about a system that it makes."""

    name: str


@changes_of
class SystemChanges(SystemSettings):
    """What of a system is to change; what is left out stays. Its kind takes a token that may organise."""

    confirm: Confirm = False


class TeamSettings(Inputs):
    """What its owners say about a team."""

    description: Annotated[str, text_of(LONGEST_DESCRIPTION)] = setting(
        "About the team", "Who you are, where you work.", default="", shown=Shown("--description", lines=3)
    )
    is_listed: bool = setting(
        "Others find this team and may ask to join",
        "Its name, this text and its number of members are shown to everybody with an account.",
        default=False, shown=Shown("--listed/--unlisted"),
    )  # fmt: skip


@changes_of
class TeamChanges(TeamSettings):
    """What of a team is to change; what is left out stays."""


class TeamName(Inputs):
    """A team's name. slug: its part of an address, made from the name unless it is given."""

    name: str = setting("Name of the team", "Boards of all years show it. Only organisers change it later.")
    slug: Slug = setting("Part of its address", "Left empty, it is made from the name.", default="", shown=ADDRESS)


class NewTeam(TeamName):
    """A team to make, with you as its owner."""

    description: str = setting("About the team", "Who you are, where you work.", default="", shown=Shown(lines=3))


class Asking(Inputs):
    """What the owners read beside your name."""

    text: Annotated[str, text_of(500)] = setting("What the owners should know", default="", shown=Shown(lines=3))


class Inviting(Inputs):
    """How long the invitation works."""

    days: Whole = setting("Days", "How long the link works.", default=7, ge=1, le=90)


class Accepting(Inputs):
    """token: the last part of the invitation's address."""

    token: str


class Leaving(Inputs):
    """confirm: to what becomes of a team without its last member."""

    confirm: Confirm = False


class NewRole(Inputs):
    """What a member becomes."""

    role: Role


class NewMember(Inputs):
    """user: the name of the account."""

    user: str
    role: Role = setting("Role", "Owners invite others. Who is in the team keeps theirs.", default=Role.MEMBER)


class Merge(Inputs):
    """unite: the systems of the team that goes which become one with the namesake of the other, by their slugs."""

    unite: list[str] = setting("A system that becomes one with that of the same name", default=[])
    confirm: Confirm = False
