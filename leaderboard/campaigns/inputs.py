"""The settings of a campaign, each declared once."""

import base64
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator

from leaderboard import errors, metrics, texts
from leaderboard.campaigns.rules import Visibility, checked_beta
from leaderboard.declared.inputs import (
    ADDRESS,
    WHOLE,
    Confirm,
    Inputs,
    Line,
    Name,
    Ratio,
    Shown,
    Slug,
    changes_of,
    setting,
    text_of,
)
from leaderboard.evaluations.rules import NoRelevant, lacks
from leaderboard.metrics.measure import NEEDED
from leaderboard.submissions.rules import RunChoice

LONGEST_TITLE = 120  # characters
LONGEST_GUIDELINES = 50_000
MOST_LINKS = 20
NUMBER = Shown(short=True)
Link = Annotated[list[str], Field(min_length=2, max_length=2)]  # a title and an address
SEEN_BY = {
    Visibility.DRAFT: "Draft: its organisers only",
    Visibility.PRIVATE: "Private: its organisers, and members of the teams that they let in",
    Visibility.PUBLIC: "Public: everybody",
}


def _names(value: Any) -> Any:
    return value.replace(",", " ").split() if isinstance(value, str) else value


def _measures(names: list[str]) -> list[str]:
    try:
        return [str(measure) for measure in metrics.parse_all(names)]
    except errors.UnknownMeasure as error:
        raise ValueError(error.message) from None


def _pairs(value: Any, info: ValidationInfo) -> Any:
    """A line each: a title and an address, or TITLE=ADDRESS."""
    lines = value.splitlines() if isinstance(value, str) else value
    if info.mode == "json" or not isinstance(lines, list | tuple):
        return value
    return [_pair(line) if isinstance(line, str) else line for line in lines if line]


def _pair(line: str) -> list[str]:
    title, equals, address = line.partition("=")
    if equals and "://" not in title:
        return [title, address]
    title, _, address = line.strip().rpartition(" ")
    return [title, address]


def _links(links: list[list[str]]) -> list[list[str]]:
    tidied = [[" ".join(title.split()), address.strip()] for title, address in links]
    problems = []
    for title, address in tidied:
        untitled = "" if title else "give the link a title"
        if problem := untitled or texts.text_problem(title, LONGEST_TITLE) or texts.web_address_problem(address):
            problems.append(f"{(title or address)[:60]}: {problem}")
    if problems:
        raise ValueError("\n".join(problems))
    return tidied


class CampaignSettings(Inputs):
    """Every setting that organisers change, in the order of the form."""

    title: Name = setting("Title", "Its name on every page.")
    description: Annotated[str, text_of(4000)] = setting(
        "Description", "A sentence or two under the title.", default="", shown=Shown(lines=3)
    )
    visibility: Visibility = setting(
        "Visible to", "Nobody else learns that this campaign exists.",
        default=Visibility.PUBLIC, shown=Shown(words=SEEN_BY),
    )  # fmt: skip
    measures: Annotated[list[str], BeforeValidator(_names), AfterValidator(_measures)] = setting(
        "Measures", "What boards show, with cutoffs and parameters, like: AP nDCG@10 P@10 RBP(p=.8)",
        min_length=1, shown=Shown(lines=3, code=True),
    )  # fmt: skip
    primary_measure: str = setting(
        "Primary measure", "The one that ranks boards. Left empty, it is the first of the list.",
        default="", validate_default=True, shown=Shown("--primary", code=True),
    )  # fmt: skip
    run_choice: RunChoice = setting(
        "Which run counts for a system on a board", default=RunChoice.PRIMARY, shown=Shown(words={
            RunChoice.PRIMARY: "its primary run, else its team's choice, else the first scored",
            RunChoice.BEST: "its best run by the measure that ranks",
            RunChoice.LATEST: "its latest run",
        }),
    )  # fmt: skip
    compat: Annotated[Literal[9, 10], WHOLE] = setting(
        "Ties and recall levels follow", "The version of trec_eval whose figures yours are to equal.",
        default=10, shown=Shown(words={10: "trec_eval 10", 9: "trec_eval 9"}),
    )  # fmt: skip
    cost: Ratio | None = setting("C, the cost of a false alarm", default=None, shown=NUMBER)
    value: Ratio | None = setting("V, the value of a detection", default=None, shown=NUMBER)
    prior: Ratio | None = setting("P, the share of documents that are relevant", default=None, shown=NUMBER)
    beta: Ratio | None = setting(
        "β itself, instead of the three", default=None, validate_default=True, shown=NUMBER, ge=0
    )
    no_relevant: NoRelevant = setting(
        "Queries without a relevant document, in detection measures", default=NoRelevant.EXCLUDE, shown=Shown(words={
            NoRelevant.EXCLUDE: "are left out",
            NoRelevant.PFA_ONLY: "count by their false alarms alone",
            NoRelevant.PMISS_ZERO: "count with a miss rate of 0",
        }),
    )  # fmt: skip
    contact: Annotated[Line, text_of(200)] = setting(
        "Contact", "Whom to ask: an e-mail address or a name. Everybody sees it.", default=""
    )
    links: Annotated[list[Link], BeforeValidator(_pairs), AfterValidator(_links)] = setting(
        "Links", "One a line: a title, then its address, like: Track guidelines https://example.org/guidelines",
        default=[], shown=Shown("--link", lines=3), max_length=MOST_LINKS,
    )  # fmt: skip
    # Blanks at the beginning mean something in Markdown.
    guidelines: Annotated[str, text_of(LONGEST_GUIDELINES, str.rstrip)] = setting(
        "Guidelines",
        "In Markdown: headings, lists, tables, links. HTML stays text. They stand on the campaign's page.",
        default="", shown=Shown(lines=12, code=True, is_file=True),
    )  # fmt: skip

    @field_validator("primary_measure")
    @classmethod
    def _is_one_measure(cls, name: str | None, info: ValidationInfo) -> str:
        """The one that ranks; measures begin with it."""
        shown = info.data.get("measures")
        names = _measures(_names(name or "")) or (shown or [])[:1]
        if shown is not None and len(names) != 1:
            raise ValueError("name one measure: the one that ranks the boards")
        return names[0] if names else ""

    @field_validator("beta")
    @classmethod
    def _follows_from_the_prior(cls, beta: float | None, info: ValidationInfo) -> float | None:
        """As stated, or as it follows from cost, value and prior; each message stands at the number it is about."""
        if not {"cost", "value", "prior"} <= info.data.keys():  # one is wrong, which is told
            return beta
        try:
            beta = checked_beta(beta, cost=info.data["cost"], value=info.data["value"], prior=info.data["prior"])
        except errors.InvalidFields as error:
            raise ValueError(error) from None
        names = info.data.get("primary_measure"), *(info.data.get("measures") or [])
        for measure in metrics.parse_all([name for name in names if name]):
            if lacks(measure, beta=beta):
                raise ValueError(f"{measure} needs {NEEDED['beta']}")
        return beta


@changes_of
class CampaignChanges(CampaignSettings):
    """What of a campaign is to change; what is left out stays."""

    confirm: Confirm = False


class NewCampaign(CampaignSettings):
    """A campaign to make, as a draft unless told."""

    visibility: Visibility = setting("Visible to", default=Visibility.DRAFT, shown=Shown(words=SEEN_BY))
    slug: Slug = setting(
        "Address", "The last part of its address, like harbour-track. It can't be changed later. Left empty, it is "
        "made from the title.", default="",
    )  # fmt: skip


class AccountName(Inputs):
    """An account by its name."""

    name: Name = setting(
        "Name of an account", "As it stands on their account's page.", shown=Shown(attributes={"autocomplete": "off"})
    )


class TeamAddress(Inputs):
    """A team by its part of the address."""

    team: Name = setting(
        "Address of a team", "The last part of the address of the team's page, like north-shore.", shown=ADDRESS
    )


class Confirmed(Inputs):
    """A team is let out, or a campaign or an evaluation removed."""

    confirm: Confirm = False


SITE, PNG = "Leaderboard", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
LOGO_BYTES, LOGO_SIDE = 64 << 10, 1024
LONG = Shown(lines=6, code=True, is_file=True)
Text = Annotated[str, text_of(LONGEST_GUIDELINES, str.rstrip)]


def _logo(text: str) -> str:
    logo = base64.b64decode(text)
    sides = int.from_bytes(logo[16:20]), int.from_bytes(logo[20:24])
    if logo and not (logo.startswith(PNG) and len(logo) <= LOGO_BYTES and min(sides) > 0 and max(sides) <= LOGO_SIDE):
        raise ValueError("choose a PNG of at most 64 KiB and 1024 × 1024 pixels")
    return text


class SiteSettings(Inputs):
    """What the site is called and says about itself. logo: in base64."""

    name: Annotated[Name, text_of(60)] = setting("Name of the site", "In the head of every page.", default=SITE)
    about: Text = setting("About", "In Markdown, as all three. The foot of pages links to it.", default="", shown=LONG)
    contact: Text = setting("Contact", "Whom to write to about the site.", default="", shown=LONG)
    privacy: Text = setting("Privacy", "What is kept of visitors and accounts, how long.", default="", shown=LONG)
    logo: Annotated[str, AfterValidator(_logo)] = setting("Logo", default="")
