"""Asks an installation for everything: each address that its routes have, for each person who is no organiser.

The routes come from `app.url_map`, so a new one is walked by itself. Where its address has a part that nothing here
can fill, the walk stops and says so.
"""

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import sqlalchemy as sa
from werkzeug.routing import AnyConverter, IntegerConverter, Rule

from leaderboard.accounts.models import ApiToken
from leaderboard.campaigns.models import Campaign
from leaderboard.evaluations.models import Evaluation
from leaderboard.judgments.models import Query
from leaderboard.submissions.models import Submission
from leaderboard.teams.models import Invitation, Membership, System, Team
from leaderboard.web.page_cache import VIEWS
from leaderboard.worker.models import ScoringSet
from tests.experiment.answers import Difference, differences
from tests.experiment.installation import Installation

Place = Mapping[str, str | int]

STATIC = ("static", "bootstrap.static")  # files of the program: they have no row to tell of

# Posts that would change what the following steps need; the year sends each of them itself.
NOT_POSTED = {
    "account.log_out": "it ends the session",
    "account.end_sessions": "it ends all sessions of the account",
    "account.revoke": "programs would be refused from then on, and after many refusals asked to wait",
    "teams.join": "it makes the newcomer a member",
}
EACH = 3  # of the queries of a run one in so many is read; those of its neighbours are others
VISITOR = "a visitor"
ORGANISER = "orla"  # who reads each page first where pages are kept warm, and sees all
POSTING = ("", "finn")  # who has nothing that a post could change

# Arguments of a page beside its address: orders and choices that a value could leak through.
ARGUMENTS = {
    "boards.board": ("sort=-AP", "sort=AQWV", "show=all", "show=best", "measure=P@5", "tag=law"),
    "boards.board_file": ("show=all",),
    "results.query_list": ("sort=relevant", "tag=law"),
    "results.query": ("sort=-AP",),
    "submissions.show": ("sort=difference",),
    "progress.progress": ("measure=P@5",),
    "progress.across": ("measure=P@5", "gaps=yes&sort=ranks", "sort=-lacking"),
    "boards.tags": ("measure=P@5", "sort=system"),
    "progress.years": ("measure=P@5",),
    "api.board": ("sort=-AP", "sort=AQWV", "show=all", "show=best", "measure=P@5", "tag=law"),
    "api.list_queries": ("sort=relevant",),
}
# Pages of two runs, which their arguments name.
COMPARES = ("results.compare_runs", "results.compare_runs_file", "results.compare_runs_charts", "api.compare")
# Charts of a page by their names, and one that it doesn't have; a system's are called as their campaigns.
CHARTS = {
    "campaigns.campaign_charts": ("systems",),
    "progress.progress_charts": ("systems", "teams"),
    "progress.years_charts": ("change", "field"),
    "results.compare_runs_charts": ("differences", "scatter"),
    "results.heat_map_charts": ("heat-map",),
    "submissions.show_charts": ("differences",),
}


@dataclass(frozen=True, slots=True)
class Share:
    """Some of the `of` parts that all questions are split into, by a hash of who asks for what; all where of is 1."""

    parts: Collection[int] = (0,)
    of: int = 1

    def has(self, who: str, address: str) -> bool:
        return zlib.crc32(f"{who} {address}".encode()) % self.of in self.parts


@dataclass(frozen=True, slots=True)
class Asked:
    """What the walks of a year ask for: everything; a share of it; some endpoints only.

    warm   pages that are kept are read by an organiser first
    twice  each reader then asks for them twice, and must be told the same
    """

    share: Share = field(default_factory=Share)
    endpoints: Collection[str] = ()
    warm: bool = False
    twice: bool = False

    def only(self, *endpoints: str) -> "Asked":
        """These endpoints only, unless some are named already."""
        return self if self.endpoints else replace(self, endpoints=endpoints)


class Places:
    """What addresses can be filled with: for each set of parts, all that there is and one that there isn't."""

    def __init__(self, installation: Installation) -> None:
        here = sa.select(Campaign.slug, Evaluation.slug).join(Evaluation, Evaluation.campaign_id == Campaign.id)
        of_teams = sa.select(Team.slug)
        with installation.database.read() as session:

            def rows(select: sa.Select[*tuple[Any, ...]], *order: Any) -> list[Any]:
                return list(session.execute(select.order_by(*order)).all())

            def within(table: Any, *columns: Any) -> sa.Select[Any]:
                return here.add_columns(*columns).join(table, table.evaluation_id == Evaluation.id)

            campaigns = rows(sa.select(Campaign.slug), Campaign.id)
            evaluations = rows(here, Evaluation.id)
            queries = rows(within(Query, Query.external_id), Evaluation.id, Query.position)
            sets = rows(within(ScoringSet, ScoringSet.id), ScoringSet.id)
            runs = rows(sa.select(Submission.id), Submission.id)
            ends = sa.func.min(Submission.id), sa.func.max(Submission.id)
            entered = rows(within(Submission, *ends).group_by(Campaign.slug, Evaluation.slug))
            of_runs = rows(
                sa.select(Submission.id, Query.external_id)
                .join(Query, Query.evaluation_id == Submission.evaluation_id)
                .where((Submission.id + Query.position) % EACH == 0),
                Submission.id,
                Query.position,
            )
            teams = rows(of_teams, Team.id)
            systems = rows(of_teams.add_columns(System.slug).join(System, Team.id == System.team_id), System.id)
            numbers = rows(sa.select(System.id), System.id)
            members = rows(of_teams.add_columns(Membership.user_id).join(Membership), Team.id)
            invitations = rows(of_teams.add_columns(Invitation.id).join(Invitation), Invitation.id)
            tokens = rows(sa.select(ApiToken.id), ApiToken.id)
            measures = {name for names in session.scalars(sa.select(Campaign.measures)) for name in names}
        self._pairs = {(campaign, evaluation): (first, last) for campaign, evaluation, first, last in entered}
        self._campaigns = [slug for (slug,) in campaigns]
        self._known: dict[frozenset[str], list[Place]] = {}
        self._add((), [()])
        self._add(("campaign",), [*campaigns, ("nowhere",)])
        self._add(("campaign", "evaluation"), [*evaluations, (campaigns[0][0], "nowhere")])
        self._add(("campaign", "evaluation", "query"), [*queries, (*evaluations[0], "nowhere")])
        self._add(("campaign", "evaluation", "scoring_set"), [*sets, (*evaluations[0], 9999)])
        following = [(*one, other[2]) for one in sets for other in sets if one[:2] == other[:2] and one[2] < other[2]]
        self._add(("campaign", "evaluation", "before", "after"), [*following, (*evaluations[0], 1, 9999)])
        self._add(("campaign", "evaluation", "submission"), [(*evaluations[0], run[0]) for run in (*runs[:1], (9999,))])
        self._add(("submission",), [*runs, (9999,)])
        self._add(("submission", "query"), [*of_runs, (1, "nowhere"), (9999, "q1")])
        for name in ("member", "team_id", "system_id"):
            self._add(("campaign", name), [(campaigns[0][0], 1), (campaigns[0][0], 9999)])
        self._add(("campaign", "team_id", "other_id"), [(campaigns[0][0], 1, 2), (campaigns[0][0], 1, 9999)])
        self._add(("team", "into"), [(teams[0][0], teams[1][0]), (teams[0][0], "nobody")])
        self._add(("campaign", "team"), [(campaigns[0][0], teams[0][0]), (campaigns[0][0], "nobody")])
        self._add(("team",), [*teams, ("nobody",)])
        self._add(("team", "system"), [*systems, (teams[0][0], "nothing")])
        self._add(("campaign", "system"), [*((*campaigns[0], *number) for number in numbers), (*campaigns[0], 9999)])
        self._add(("team", "member"), [*members, (teams[0][0], 9999)])
        self._add(("team", "invitation"), [*invitations, (teams[0][0], 9999)])
        self._add(("campaign", "evaluation", "key"), [(*evaluations[0], "no-such-field")])
        self._add(("key",), [("no-such-key",)])
        self._add(("api_token",), [*tokens, (9999,)])
        self._add(("token",), [("no-such-token",)])
        self._add(("provider",), [("nobody",)])
        for name in ("identity", "session_id"):
            self._add((name,), [(9999,)])
        self._add(("team", "asked"), [(teams[0][0], 9999)])
        self._add(("name",), [*((name,) for name in sorted(measures)), ("nothing",)])

    def _add(self, parts: tuple[str, ...], rows: Iterable[Iterable[str | int]]) -> None:
        self._known[frozenset(parts)] = [dict(zip(parts, row, strict=True)) for row in rows]

    def pairs(self, place: Place) -> Iterator[str]:
        """Arguments that name two runs of an evaluation, either way round and by another measure."""
        found = self._pairs.get((str(place["campaign"]), str(place["evaluation"])))
        if found is not None:
            first, last = found
            yield from (f"a={first}&b={last}", f"a={last}&b={first}&measure=P@5", f"a={first}")

    def of(self, rule: Rule) -> Iterator[Place]:
        """All places of a route, with each of the endings that it has."""
        chosen = {name: each.items for name, each in rule._converters.items() if isinstance(each, AnyConverter)}
        if "chart" in rule.arguments:
            chosen["chart"] = {*CHARTS.get(rule.endpoint, self._campaigns), "nothing"}
        parts = frozenset(rule.arguments).difference(chosen, rule.defaults or ())
        assert parts in self._known, (
            f"the experiment can't fill {rule.rule} ({rule.endpoint}): say in Places of tests/experiment/walk.py what "
            f"{' and '.join(sorted(parts))} can be"
        )
        numbers = {name for name, each in rule._converters.items() if isinstance(each, IntegerConverter)}
        for place in self._known[parts]:
            # Some rooms know by its number what pages know by its name.
            numbered = {name: 1 for name in numbers if not str(place.get(name, 1)).isdigit()}
            for endings in _choices(chosen):
                yield {**place, **numbered, **endings}


def _choices(chosen: Mapping[str, Iterable[str]]) -> Iterator[dict[str, str]]:
    """Every combination of the values that the parts of an address may have."""
    if not chosen:
        yield {}
        return
    name, *others = chosen
    for value in sorted(chosen[name]):
        for rest in _choices({other: chosen[other] for other in others}):
            yield {name: value, **rest}


def walk(installation: Installation, moment: str, people: Iterable[str], *, asked: Asked) -> None:
    """Each of the people reads every address, and those who own nothing send every form; the answers are kept."""
    pages = list(addresses(installation, "GET", asked.endpoints))
    forms = list(addresses(installation, "POST", asked.endpoints))
    kept = set(addresses(installation, "GET", VIEWS)) if asked.warm else set()
    warmed: set[str] = set()
    for name in people:
        person, who = installation.people[name].settle(), name or VISITOR
        for address in filter(partial(asked.share.has, who), pages):
            if address in kept and address not in warmed:
                installation.people[ORGANISER].get(address)
                warmed.add(address)
            answer = installation.walked[moment, who, "GET", address] = person.get(address)
            if address in kept and asked.twice:
                assert person.get(address) == answer, f"{moment}: {who} {address}: kept, it is another page"
        for address in filter(partial(asked.share.has, who), forms if name in POSTING else ()):
            installation.walked[moment, who, "POST", address] = person.post_settled(address)


def compared(one: Installation, other: Installation, share: Share) -> list[Difference]:
    """What differs in the steps of the year, and in the answers to a share of the walks."""
    walked = {key: answer for key, answer in one.walked.items() if share.has(key[1], key[3])}
    return differences({**one.steps, **walked}, {**other.steps, **other.walked})


def addresses(installation: Installation, method: str, endpoints: Collection[str] = ()) -> Iterator[str]:
    """The addresses of all pages and files (GET), or of all forms that may be sent without harm (POST).

    endpoints  those only, where some are named
    """
    places = Places(installation)
    links = installation.app.url_map.bind("localhost")
    left_out = {*STATIC, *(NOT_POSTED if method == "POST" else ())}
    for rule in installation.app.url_map.iter_rules():
        wanted = rule.endpoint in endpoints if endpoints else rule.endpoint not in left_out
        if not wanted or method not in (rule.methods or ()):
            continue
        for place in places.of(rule):
            address = links.build(rule.endpoint, dict(place), method=method)
            yield address
            if method == "GET":
                yield from (f"{address}?{arguments}" for arguments in ARGUMENTS.get(rule.endpoint, ()))
            if method == "GET" and rule.endpoint in COMPARES:
                yield from (f"{address}?{arguments}" for arguments in places.pairs(place))
