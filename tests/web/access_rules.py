"""Who sees what, written by hand from the rules: the tables that `test_access_matrix.py` holds the site against.

Eight kinds of people look at one evaluation in the phases of its life; in some it is absent for most of them. `PAGES`
says how each address answers them, `FORMS` who may send which form, `SECRETS` who may find what, wherever it is.
"""

import datetime as dt
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from flask import Flask

from leaderboard.campaigns.rules import Visibility
from leaderboard.evaluations.rules import Opening
from leaderboard.web.app import register
from tests.support.field import DAY, NOW

# Kind of person -> the column of `Answers` that is theirs.
KINDS = {
    "visitor": 0,
    "account without a team": 1,
    "member of another team": 1,
    "organiser of another campaign": 1,
    "member of the team": 2,
    "owner of the team": 2,
    "organiser": 3,
    "admin": 3,
}
Answers = tuple[int, int, int, int]  # visitor, other accounts, the team, organisers and admins

EVERYONE = frozenset(KINDS)
OWNER = frozenset({"owner of the team"})
TEAM = OWNER | {"member of the team"}
STAFF = frozenset({"organiser", "admin"})
INSIDE = TEAM | STAFF

USUAL: dict[str, Any] = {
    "results": Opening.ALWAYS, "details": Opening.CLOSED, "anonymous_until": None, "grace_seconds": 60,
    "texts": Opening.OPENED, "hidden_queries": Opening.CLOSED, "draft": False,
    "judgments_published": True,
}  # fmt: skip
OPEN: dict[str, Any] = {**USUAL, "opens_at": NOW - 30 * DAY, "closes_at": NOW + 30 * DAY}
CLOSED: dict[str, Any] = {**USUAL, "opens_at": NOW - 30 * DAY, "closes_at": NOW - DAY}
# Phase -> the evaluation's columns. It has a hidden query in all of them.
PHASES: dict[str, dict[str, Any]] = {
    "before opening": {**OPEN, "opens_at": NOW + DAY},
    "open": OPEN,
    "in the grace": {**OPEN, "closes_at": NOW - dt.timedelta(seconds=59)},
    "closed": CLOSED,
    "anonymous": {**CLOSED, "anonymous_until": NOW + 30 * DAY, "judgments_published": False},
    "results closed": {**OPEN, "results": Opening.CLOSED},
    "details never": {**CLOSED, "details": Opening.NEVER, "judgments_published": False},
    "hidden queries": {**OPEN, "details": Opening.ALWAYS},  # single queries are open, and this one must not be
    "draft": OPEN,
    "draft evaluation": {**OPEN, "draft": True},
    "private": OPEN,
}
# Phase -> its campaign's visibility, where that is another one. A private campaign has let the team in.
VISIBILITY = {"draft": Visibility.DRAFT, "private": Visibility.PRIVATE}
# Phase -> for whom the evaluation is there at all; for everybody in the others.
KNOWN = {"draft": STAFF, "draft evaluation": STAFF, "private": INSIDE}
AFTER_CLOSING = ("closed", "anonymous", "details never")
DETAILS_OPEN = ("closed", "anonymous", "hidden queries")


API = "/api/v1"  # addresses that programs ask: with a token, and without cookies


def is_absent(address: str, phase: str, kind: str) -> bool:
    """Whether what is at an address of the evaluation, its campaign or a run is not there for this kind of person."""
    address = address.removeprefix(API).replace("/news/evaluations/", "/news/")
    campaign = address.startswith("/campaigns/news")
    within = address.startswith(("/campaigns/news/2026", "/submissions/{"))
    there = kind in KNOWN.get(phase, EVERYONE)
    return not there and (within or (campaign and phase in VISIBILITY))


@dataclass(frozen=True, slots=True)
class Page:
    """An address that is read, how it answers in most phases, and in those that differ.

    files   how the same table answers as CSV and as JSON: {} as the page does, None where there is no such file
    only_admins  organisers are answered as others are; only_owners: other members of the team are refused
    told    secrets that whoever has the address has been told: they are no find there
    """

    address: str
    usual: Answers
    phases: Mapping[str, Answers] = field(default_factory=dict)
    files: Mapping[str, Answers] | None = None
    told: frozenset[str] = frozenset()
    only_admins: bool = False
    only_owners: bool = False

    def status(self, phase: str, kind: str, *, file: bool = False) -> int:
        if self.only_admins and kind == "organiser":
            return 404
        if self.only_owners and kind == "member of the team":
            return 403
        if is_absent(self.address, phase, kind):
            return self.usual[0] if self.usual[0] in (302, 401) and kind == "visitor" else 404
        answers = self.phases.get(phase, self.usual)
        if file and self.files:
            answers = self.files.get(phase, self.files.get("", answers))
        return answers[KINDS[kind]]

    def is_usual(self, phase: str) -> bool:
        """Whether this phase changes no answer, neither the page's nor its files'."""
        differs = phase in self.phases or phase in (self.files or {})
        return not differs and not any(is_absent(self.address, phase, kind) for kind in KINDS)


ORGANISED_2026 = f"{API}/organise/campaigns/news/evaluations/2026"

PUBLIC = (200, 200, 200, 200)
ACCOUNTS = (302, 200, 200, 200)  # whoever is not logged in is sent there first
ORGANISED = (401, 404, 404, 200)  # the same for what organisers' programs ask
TOKENS = (401, 200, 200, 200)  # a program without a token is told to get one
ONLY_INSIDE = (404, 404, 200, 200)  # for others it is as if it were not there
ORGANISERS = (403, 403, 403, 200)
NOBODY = (404, 404, 404, 404)
ASKED = (302, 403, 200, 200)  # what only its team and organisers may do to a run that all see
ROOM_OF_RUN = (302, 404, 200, 200)  # of one that others don't see
ASKED_API, ROOM_OF_RUN_API = (401, 403, 200, 200), (401, 404, 200, 200)  # the same for programs
ROOM_OF_TEAM = (401, 404, 200, 200)
NOT_HERE = (401, 404, 404, 404)  # the room of another campaign
ELSEWHERE = (302, 404, 404, 404)  # the room of another campaign
TO_ORGANISERS = (404, 404, 404, 200)
BESIDE = (404, 404, 404, 200)  # by another source of judgments: not there for whoever may not see single queries
ROOMS = (302, 404, 404, 200)  # a visitor logs in first; for other accounts it is as if it were not there
NO_LINK = (409, 409, 409, 409)  # of a mail: one that never was answers as one that was used
# A hidden query answers as one that is not there, to all who may not know of it: in each phase alike.
NO_SUCH_QUERY = (403, 403, 403, 404)
HIDDEN = {"closed": PUBLIC, "anonymous": PUBLIC, "hidden queries": (404, 404, 404, 200)}
AS_THE_PAGE: Mapping[str, Answers] = {}
WITH_DETAILS = dict.fromkeys(DETAILS_OPEN, PUBLIC)
LISTS_WITH_DETAILS: Mapping[str, Answers] = {**WITH_DETAILS, "results closed": (404, 404, 403, 200)}
BY_TAG: Mapping[str, Answers] = {"closed": PUBLIC, "anonymous": PUBLIC, "hidden queries": (400, 400, 400, 200)}
WITH_NAMES = {phase: PUBLIC for phase in DETAILS_OPEN if phase != "anonymous"}
# Where others than organisers see the results of one period alone, there is no line to draw.
ONE_PERIOD = dict.fromkeys(("anonymous", "results closed"), TO_ORGANISERS) | {"draft evaluation": TO_ORGANISERS}
OF_SYSTEM = ONE_PERIOD | {"draft": TO_ORGANISERS, "private": ONLY_INSIDE}
TOLD_TEAM, TOLD_SYSTEM = frozenset({"team"}), frozenset({"team", "system"})
# Where no run can be told to be the team's, which is not listed, it is absent for outsiders.
TEAM_HIDDEN = ("results closed", "anonymous", *KNOWN)
ONLY_INSIDE_BY = dict.fromkeys(TEAM_HIDDEN, ONLY_INSIDE)

# Endpoint -> its addresses. {run}, {rejected} and {withdrawn} are runs of the team, {token} is an invitation of it.
PAGES: dict[str, tuple[Page, ...]] = {
    "campaigns.front": (Page("/", PUBLIC),),
    "campaigns.campaign": (Page("/campaigns/news", PUBLIC, files=AS_THE_PAGE),),
    "progress.progress": (Page("/campaigns/news/progress", PUBLIC, files=AS_THE_PAGE),),
    "progress.across": (Page("/campaigns/news/across", PUBLIC, files=AS_THE_PAGE),),
    "progress.years": (Page("/campaigns/news/progress/years", PUBLIC, files=AS_THE_PAGE),),
    "boards.board": (
        Page("/campaigns/news/2026", PUBLIC, files=AS_THE_PAGE),
        Page("/campaigns/news/2026?show=all", PUBLIC),
        Page(  # the tag of the hidden query alone: one value
            "/campaigns/news/2026?tag=law", ORGANISERS, BY_TAG
        ),
    ),
    "boards.board_versions": (Page("/campaigns/news/2026/boards", PUBLIC),),
    "boards.old_board": (
        Page("/campaigns/news/2026/boards/{current_set}", PUBLIC, files=AS_THE_PAGE),
        Page("/campaigns/news/2026/boards/{beside_set}", BESIDE, WITH_DETAILS, AS_THE_PAGE),
        Page("/campaigns/news/2025/boards/{current_set}", NOBODY, files=AS_THE_PAGE),
    ),
    "boards.what_moved": (
        Page("/campaigns/news/2026/boards/{current_set}/to/{beside_set}", BESIDE, WITH_DETAILS, AS_THE_PAGE),
        Page("/campaigns/news/2026/boards/{current_set}/to/{current_set}", PUBLIC, files=AS_THE_PAGE),
    ),
    "boards.tags": (Page("/campaigns/news/2026/tags", ORGANISERS, WITH_DETAILS, AS_THE_PAGE),),
    "results.leave_one_team_out": (
        Page("/campaigns/news/2026/leave-one-team-out", ORGANISERS, WITH_NAMES, AS_THE_PAGE),
    ),
    "boards.sources": (Page("/campaigns/news/2026/sources", ORGANISERS, WITH_DETAILS, AS_THE_PAGE),),
    "sharing.cite": (
        Page("/campaigns/news/2026/boards/{current_set}/cite", PUBLIC),
        Page("/campaigns/news/2026/boards/{beside_set}/cite", BESIDE, WITH_DETAILS),
    ),
    "sharing.bibtex": (
        Page("/campaigns/news/2026/boards/{current_set}/cite.bib", PUBLIC),
        Page("/campaigns/news/2026/boards/{beside_set}/cite.bib", BESIDE, WITH_DETAILS),
    ),
    # These answer everybody as a visitor.
    "sharing.feed": (Page("/campaigns/news/feed.atom", PUBLIC, dict.fromkeys(VISIBILITY, NOBODY)),),
    "sharing.card": tuple(
        Page(f"/campaigns/news/2026/card.{ending}", PUBLIC, dict.fromkeys(KNOWN, NOBODY)) for ending in ("svg", "png")
    ),
    "sharing.badge": (
        Page("/submissions/{run}/badge.svg", PUBLIC, dict.fromkeys(("results closed", *KNOWN), NOBODY)),
        Page("/submissions/{rejected}/badge.svg", NOBODY),
        Page("/submissions/{withdrawn}/badge.svg", NOBODY),
    ),
    "judgments.index": (Page("/campaigns/news/2026/judgments", ORGANISERS, {"closed": PUBLIC}, AS_THE_PAGE),),
    **{
        f"judgments.{view}": (Page(f"/campaigns/news/2026/{file}.txt", ORGANISERS, {"closed": PUBLIC}),)
        for view, file in (("qrels", "judgments"), ("known", "known"), ("subtopics", "subtopics"))
    },
    "judgments.documents": (
        Page("/campaigns/news/2026/judgments/q1", ORGANISERS, {"closed": PUBLIC}, AS_THE_PAGE),
        Page("/campaigns/news/2026/judgments/sekretquery", ORGANISERS, {"closed": PUBLIC}, AS_THE_PAGE),
        Page("/campaigns/news/2026/judgments/none", NO_SUCH_QUERY, {"closed": NOBODY}, AS_THE_PAGE),
    ),
    "results.query_list": (Page("/campaigns/news/2026/queries", PUBLIC, files=AS_THE_PAGE),),
    "results.query": (
        Page("/campaigns/news/2026/queries/q1", ORGANISERS, WITH_DETAILS, AS_THE_PAGE),
        Page("/campaigns/news/2026/queries/sekretquery", ORGANISERS, HIDDEN, AS_THE_PAGE),
        Page("/campaigns/news/2026/queries/none", NO_SUCH_QUERY, dict.fromkeys(DETAILS_OPEN, NOBODY), AS_THE_PAGE),
    ),
    "results.board_values": (Page("/campaigns/news/2026/values.csv", ORGANISERS, WITH_DETAILS),),
    "results.old_board_values": (
        Page("/campaigns/news/2026/boards/{current_set}/values.json", ORGANISERS, WITH_DETAILS),
        Page("/campaigns/news/2026/boards/{beside_set}/values.tex", BESIDE, WITH_DETAILS),
    ),
    "results.compare_runs": (
        Page("/campaigns/news/2026/compare", ORGANISERS, WITH_DETAILS, AS_THE_PAGE),
        Page("/campaigns/news/2026/compare?a={run}&b={other}", ORGANISERS, WITH_DETAILS, AS_THE_PAGE),
        Page(
            "/campaigns/news/2026/compare?a={withdrawn}&b={other}",
            NO_SUCH_QUERY,
            dict.fromkeys(DETAILS_OPEN, NOBODY),
            AS_THE_PAGE,
        ),
    ),
    "results.heat_map": (Page("/campaigns/news/2026/heat-map", ORGANISERS, WITH_DETAILS),),
    "results.heat_map_charts": (Page("/campaigns/news/2026/heat-map/charts/heat-map.csv", ORGANISERS, WITH_DETAILS),),
    # Charts are drawn from the reads of their pages; where there is nothing to draw there is no file.
    "campaigns.campaign_charts": (Page("/campaigns/news/charts/systems.csv", PUBLIC, ONE_PERIOD),),
    "progress.progress_charts": (Page("/campaigns/news/progress/charts/systems.csv", PUBLIC, ONE_PERIOD),),
    "progress.years_charts": (Page("/campaigns/news/progress/years/charts/change.csv", PUBLIC, ONE_PERIOD),),
    "systems.system_charts": (Page("/teams/sekretwoods/sekretalder/charts/news.csv", PUBLIC, OF_SYSTEM),),
    "results.compare_runs_charts": (
        Page("/campaigns/news/2026/compare/charts/differences.csv?a={run}&b={other}", ORGANISERS, WITH_DETAILS),
    ),
    "submissions.show_charts": (
        Page("/submissions/{run}/charts/differences.csv", TO_ORGANISERS, WITH_DETAILS),
        Page("/submissions/{run}/charts/precision.csv", TO_ORGANISERS, WITH_DETAILS),
    ),
    "submissions.show": (
        Page("/submissions/{run}", PUBLIC, {"results closed": ONLY_INSIDE}, AS_THE_PAGE),
        Page("/submissions/{rejected}", ONLY_INSIDE, files={"": NOBODY}),
        Page("/submissions/{withdrawn}", ONLY_INSIDE, files=AS_THE_PAGE),
        Page("/submissions/999999", NOBODY, files=AS_THE_PAGE),
    ),
    "submissions.score_receipt": (
        Page("/submissions/{run}/receipt.json", PUBLIC, {"results closed": ONLY_INSIDE}),
        Page("/submissions/{rejected}/receipt.json", NOBODY),
    ),
    "submissions.fetch": (Page("/submissions/999999/file", (302, 404, 404, 404)),),  # files: test_receipts.py
    "results.query_rows": (Page("/campaigns/news/2026/queries.tsv", PUBLIC),),
    "submissions.progress": (
        Page("/submissions/{run}/status", PUBLIC, {"results closed": ONLY_INSIDE}),
        Page("/submissions/{rejected}/status", ONLY_INSIDE),
        Page("/submissions/{withdrawn}/status", ONLY_INSIDE),
    ),
    **{
        f"submissions.{view}": (
            Page(f"/submissions/{{run}}/{path}", ASKED, {"results closed": ROOM_OF_RUN}),
            Page(f"/submissions/{{rejected}}/{path}", ROOM_OF_RUN),
        )
        for view, path in (
            ("ask_withdraw", "withdraw"),
            ("ask_stand", "stand"),
            ("ask_primary", "primary"),
            ("describe", "describe"),
        )
    },
    "results.ranked_list": (
        Page("/submissions/{run}/queries/q1", ORGANISERS, LISTS_WITH_DETAILS, AS_THE_PAGE),
        Page(
            "/submissions/{run}/queries/sekretquery",
            ORGANISERS,
            {**HIDDEN, "results closed": (404, 404, 403, 200)},
            AS_THE_PAGE,
        ),
        Page(
            "/submissions/{run}/queries/none",
            NO_SUCH_QUERY,
            {**dict.fromkeys(DETAILS_OPEN, NOBODY), "results closed": (404, 404, 403, 404)},
            AS_THE_PAGE,
        ),
    ),
    "teams.show": (Page("/teams/sekretwoods", PUBLIC, ONLY_INSIDE_BY, told=TOLD_TEAM),),
    "systems.system": (Page("/teams/sekretwoods/sekretalder", PUBLIC, ONLY_INSIDE_BY, AS_THE_PAGE, told=TOLD_SYSTEM),),
    "systems.edit": (
        Page("/teams/sekretwoods/sekretalder/edit", ASKED, dict.fromkeys(TEAM_HIDDEN, ROOM_OF_RUN), told=TOLD_SYSTEM),
    ),
    "teams.invitation": (
        Page("/join/{token}", (200, 200, 302, 200), told=TOLD_TEAM),  # who is in the team is led to it
        Page("/join/not-a-token", (409, 409, 409, 409)),
    ),
    "teams.find": (Page("/teams", ACCOUNTS), Page("/teams?words=sekret", ACCOUNTS)),  # this team is not listed
    "teams.change": (Page("/account/teams/sekretwoods", (302, 404, 200, 404), told=TOLD_TEAM),),
    "teams.new": (Page("/account/teams/new", ACCOUNTS),),
    "teams.leave": (Page("/teams/sekretwoods/leave", (302, 404, 200, 404), told=TOLD_TEAM),),
    "teams.remove": (
        Page(
            "/teams/sekretwoods/members/{member}/remove",
            (302, 403, 200, 403),
            dict.fromkeys(TEAM_HIDDEN, (302, 404, 200, 403)),
            told=TOLD_TEAM,
            only_owners=True,
        ),
    ),
    "organise.index": (Page("/organise", ACCOUNTS),),
    "organise_systems.show": (
        Page("/organise/news/systems/{system}", ROOMS),
        Page("/organise/elsewhere/systems/{system}", ELSEWHERE),
    ),
    "organise_teams.show": (
        Page("/organise/news/teams/{team}", ROOMS),
        Page("/organise/elsewhere/teams/{team}", ELSEWHERE),
    ),
    "organise_teams.ask_merge": (Page("/organise/news/teams/{team}/merge?into={other_team}", ROOMS),),
    "organise_submissions.of_campaign": (
        Page("/organise/news/submissions", ROOMS, files={"": TO_ORGANISERS}),
        Page("/organise/news/submissions?state=none", (302, 404, 404, 400)),
    ),
    "organise_submissions.show": (
        Page("/organise/news/2026/submissions/{run}", ROOMS),
        Page("/organise/news/2025/submissions/{run}", (302, 404, 404, 404)),  # it is one to another evaluation
    ),
    "organise_submissions.fetch": (
        # Nothing stands in the store of this world.
        Page("/organise/news/2026/submissions/{run}/file", (302, 404, 404, 503)),
        Page("/organise/news/2025/submissions/{run}/file", (302, 404, 404, 404)),
    ),
    "organise_campaigns.new": (Page("/organise/campaigns/new", ROOMS, only_admins=True),),
    "organise_import.whole": (Page("/organise/import", ROOMS, only_admins=True),),
    "organise_import.export": (Page("/organise/news/export.tar.gz", (302, 404, 404, 503)),),  # the same
    "organise_people.show": (Page("/organise/news/organisers", ROOMS, told=TOLD_TEAM),),
    "organise_people.remove_organiser": (Page("/organise/news/organisers/999999/remove", ELSEWHERE),),  # no organiser
    "submit.new": (Page("/campaigns/news/2026/submit", ACCOUNTS),),
    # A run that waits is its sender's alone: test_before_the_queue.py.
    "opinion.new_opinion": (Page("/opinion", ACCOUNTS),),
    "run_checks.new_check": (Page("/campaigns/news/2026/check", ACCOUNTS),),
    "account.show": (Page("/account/", ACCOUNTS),),
    "account.password": (Page("/account/password", ACCOUNTS),),
    "account.close": (Page("/account/close", ACCOUNTS),),
    "account.change": (Page("/account/email", ACCOUNTS),),
    "account.choose": (Page("/account/mail", ACCOUNTS),),
    "account.confirmation": (Page("/account/email/confirm/not-a-token", (302, 409, 409, 409)),),
    "account.begin": (Page("/login/with/nobody", NOBODY),),
    "account.back": (Page("/login/with/nobody/back?code=1&state=2", NOBODY),),
    "account.register_identity": (Page("/register/with", NO_LINK),),  # nothing was proven in these browsers
    "account.link": (Page("/account/identities/link", (302, 409, 409, 409)),),
    "account.remove": (Page("/account/identities/999999/remove", ACCOUNTS),),
    "account.forgotten": (Page("/password/forgotten", PUBLIC),),
    "account.reset": (Page("/password/reset/not-a-token", NO_LINK),),
    "account.log_in": (Page("/login", PUBLIC),),
    "account.register": (Page("/register", PUBLIC),),
    "measures.index": (Page("/measures/", PUBLIC),),
    "measures.show": (Page("/measures/AP", PUBLIC),),
    "documents.document": (
        Page("/docs/statistics", PUBLIC),
        Page("/docs/decisions/0007-scipy", PUBLIC),
        Page("/docs/SECURITY", PUBLIC),
        Page("/docs/nothing", NOBODY),
    ),
    "documents.index_of_documents": (Page("/docs/", PUBLIC), Page("/docs/?q=token", PUBLIC)),
    "operating.healthz": (Page("/healthz", PUBLIC),),
    "operating.readyz": (Page("/readyz", PUBLIC),),
    "operating.metrics": (Page("/metrics", NOBODY),),  # no token is set
    "site.text": (Page("/about", NOBODY),),  # nothing is said here, and there is no logo
    "site.logo": (Page("/logo.png", NOBODY),),
    "organise_people.site": (Page("/organise/site", ROOMS, only_admins=True),),
    "api_guide.guide": (Page("/api", PUBLIC),),
    "account.new": (Page("/account/tokens/new", ACCOUNTS),),
    # The API answers as the page does that shows the same.
    "api.openapi": (Page(f"{API}/openapi.json", PUBLIC),),
    "api.list_campaigns": (Page(f"{API}/campaigns", PUBLIC),),
    "api.board": (
        Page(f"{API}/campaigns/news/evaluations/2026/board", PUBLIC),
        Page(f"{API}/campaigns/news/evaluations/2026/board?show=all", PUBLIC),
        Page(f"{API}/campaigns/news/evaluations/2026/board?tag=law", ORGANISERS, BY_TAG),
    ),
    "api.board_values": (Page(f"{API}/campaigns/news/evaluations/2026/values", ORGANISERS, WITH_DETAILS),),
    "api.run_bytes": (  # nothing stands in the store of this world
        Page(f"{API}/submissions/{{run}}/file", (401, 403, 503, 503), {"results closed": (401, 404, 503, 503)}),
    ),
    "api.find_teams": (Page(f"{API}/teams", TOKENS), Page(f"{API}/teams?words=sekret", TOKENS)),
    "api.team_settings": (Page(f"{API}/teams/sekretwoods/settings", (401, 404, 200, 404), told=TOLD_TEAM),),
    "api.list_requests": (Page(f"{API}/teams/sekretwoods/requests", ROOM_OF_TEAM, only_admins=True),),
    "api.list_invitations": (Page(f"{API}/teams/sekretwoods/invitations", ROOM_OF_TEAM, only_admins=True),),
    "api.organised_system": (
        Page(f"{API}/organise/campaigns/news/systems/{{system}}", ORGANISED),
        Page(f"{API}/organise/campaigns/elsewhere/systems/{{system}}", NOT_HERE),
    ),
    "api.preview_merge": (
        Page(f"{API}/organise/campaigns/news/teams/{{team}}/into/{{other_team}}", ORGANISED),
        Page(f"{API}/organise/campaigns/elsewhere/teams/{{team}}/into/{{other_team}}", NOT_HERE),
    ),
    "api.list_organisers": (Page(f"{API}/organise/campaigns/news/organisers", ORGANISED, told=TOLD_TEAM),),
    "api.list_all_teams": (Page(f"{API}/organise/teams", ORGANISED, only_admins=True),),
    "api.may_submit": (Page(f"{API}/campaigns/news/evaluations/2026/submitting", TOKENS),),
    "api.submission_results": (
        Page(f"{API}/submissions/{{run}}/results", PUBLIC, {"results closed": ONLY_INSIDE}),
        Page(f"{API}/submissions/{{rejected}}/results", NOBODY),
        Page(f"{API}/submissions/{{withdrawn}}/results", ONLY_INSIDE),
    ),
    "api.submission_receipt": (
        Page(f"{API}/submissions/{{run}}/receipt", PUBLIC, {"results closed": ONLY_INSIDE}),
        Page(f"{API}/submissions/{{rejected}}/receipt", NOBODY),
    ),
    "api.system": (Page(f"{API}/teams/sekretwoods/systems/sekretalder", PUBLIC, ONLY_INSIDE_BY, told=TOLD_SYSTEM),),
    "api.list_measures": (Page(f"{API}/measures", PUBLIC),),
    "api.measure": (Page(f"{API}/measures/AP", PUBLIC), Page(f"{API}/measures/nothing", NOBODY)),
    "api.sending": (Page(f"{API}/sendings/none", (401, 404, 404, 404)),),
    "api.list_organised": (Page(f"{API}/organise/campaigns", TOKENS),),
    "api.list_organised_evaluations": (Page(f"{API}/organise/evaluations", TOKENS),),
    # Nothing stands in the store of this world.
    "api.export_campaign": (Page(f"{API}/organise/campaigns/news/export.tar.gz", (401, 404, 404, 503)),),
    "api.organised_submission": (
        Page(f"{ORGANISED_2026}/submissions/{{run}}", ORGANISED),
        Page(f"{API}/organise/campaigns/news/evaluations/2025/submissions/{{run}}", (401, 404, 404, 404)),
    ),
    "api.fetch_run": (  # nothing stands in the store of this world
        Page(f"{ORGANISED_2026}/submissions/{{run}}/file", (401, 404, 404, 503)),
        Page(f"{API}/organise/campaigns/news/evaluations/2025/submissions/{{run}}/file", (401, 404, 404, 404)),
    ),
    "api.account": (Page(f"{API}/account", TOKENS),),
    "static": (Page("/static/leaderboard.css", PUBLIC),),
    "bootstrap.static": (Page("/bootstrap/static/css/bootstrap.min.css", PUBLIC),),
}

# Endpoint of the API -> the page that shows the same: it answers as that does.
TWINS = {
    "api.campaign": "campaigns.campaign",
    "api.campaign_progress": "progress.progress",
    "api.campaign_across": "progress.across",
    "api.campaign_years": "progress.years",
    "api.list_queries": "results.query_list",
    "api.query": "results.query",
    "api.query_rows": "results.query_rows",
    "api.compare": "results.compare_runs",
    "api.heat_map": "results.heat_map",
    "api.list_boards": "boards.board_versions",
    "api.old_board": "boards.old_board",
    "api.what_moved": "boards.what_moved",
    "api.list_sources": "boards.sources",
    "api.figures_by_tag": "boards.tags",
    "api.leave_one_team_out": "results.leave_one_team_out",
    "api.published_judgments": "judgments.index",
    "api.judged_documents": "judgments.documents",
    "api.submission": "submissions.show",
    "api.ranked_list": "results.ranked_list",
    "api.team": "teams.show",
    "api.qrels": "judgments.qrels",
    "api.known_documents": "judgments.known",
    "api.subtopic_judgments": "judgments.subtopics",
}


def _for_programs(page: Page) -> Page:
    path = re.sub(r"/news/(20\d\d)", r"/news/evaluations/\1", page.address)
    return replace(page, address=f"{API}{path}", files=None)


PAGES |= {endpoint: tuple(map(_for_programs, PAGES[page])) for endpoint, page in TWINS.items()}


@dataclass(frozen=True, slots=True)
class Form:
    """What is posted to an address, and what it answers to those who may not: {} where every account may.

    Whoever is in no part of `refused` may send it; that it works then is the subject of other tests.
    """

    address: str
    refused: Mapping[str, int]
    phases: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    fields: Mapping[str, Any] = field(default_factory=dict)

    def refusals(self, phase: str) -> dict[str, int]:
        """Kind of person -> the status that refuses them."""
        absent = {kind: 404 for kind in KINDS if kind != "visitor" and is_absent(self.address, phase, kind)}
        refused = {**self.phases.get(phase, self.refused), **absent}
        # A program without a token is told to get one; there is no page to send it to.
        return refused | {"visitor": 401} if self.address.startswith(API) else refused


def _refused(status: int, *but: str) -> dict[str, int]:
    """The visitor has to log in first; all others who are not named are refused with this status."""
    return {"visitor": 302, **{kind: status for kind in KINDS if kind != "visitor" and kind not in but}}


LOG_IN_FIRST = {"visitor": 302}
ONLY_ADMINS = _refused(404, "admin")
OWNERS = _refused(403, "owner of the team", "admin")
NO_REQUEST = {**OWNERS, "owner of the team": 404, "admin": 404}
ABSENT = {kind: 404 for kind in KINDS if kind != "visitor" and kind not in INSIDE}


def _where_hidden(refused: Mapping[str, int]) -> dict[str, Mapping[str, int]]:
    """Phase -> who is refused there, where the team is absent for outsiders."""
    return {phase: {**refused, **ABSENT} for phase in TEAM_HIDDEN}


NOT_ORGANISED = _refused(404, *STAFF)  # for others it is as if there were no room

# What a program has to send, so that nothing else than who it is refuses it.
FIELDS: dict[str, dict[str, Any]] = {
    "api.describe_run": {"label": "another", "notes": ""},
    "api.make_campaign": {"title": "Mine", "measures": ["AP"]},
    "api.make_evaluation": {"slug": "2027", "title": "The year 2027", "period": "2027"},
    "api.change_role": {"role": "member"},
    "api.make_system": {"name": "Another one"},
    "api.set_form_field": {"key": "model", "label": "Model"},
    "api.state_agreement": {"key": "terms", "title": "Terms", "wording": "Be fair."},
    "api.set_file_rules": {"most_documents": 10},
    "api.copy_form": {"source": "2025"},
    "api.rename_source": {"source": "sekretsource", "name": "other"},
    "api.take_run_off": {"ruling": "hidden", "because": "a reason"},
    "api.rename_team": {"name": "Sekretwoods too"},
    "api.add_member": {"user": "Sekretada"},
    "api.add_organiser": {"name": "Sekretada"},
    "api.let_team_in": {"team": "meadow"},
    "api.exclude_queries": {"queries": ["q1"], "because": "unclear"},
    **{f"api.{act}_queries": {"queries": ["q1"]} for act in ("include", "hide", "show", "remove")},
    **{f"api.{act}": {"source": "sekretsource"} for act in ("remove_source", "make_source_official")},
    **{f"api.{act}": {"kept": "nothing"} for act in ("import_campaign", "import_into")},
}


FORMS: dict[str, Form] = {}


def _forms(
    refused: Mapping[str, int], paths: Mapping[str, str], phases: Mapping[str, Mapping[str, int]] = MappingProxyType({})
) -> None:
    """Who is refused the forms of these endpoints, and who otherwise in some phases."""
    for endpoint, path in ((endpoint, path) for names, path in paths.items() for endpoint in names.split()):
        address = f"{API}{path.removeprefix(API)}" if endpoint.startswith("api.") else path
        FORMS[endpoint] = Form(address, refused, phases, FIELDS.get(endpoint, {}))


_forms({}, {
    "account.log_in": "/login", "account.log_out": "/logout", "account.register": "/register",
    "account.forgotten": "/password/forgotten",
})  # fmt: skip
_forms(LOG_IN_FIRST, {
    "account.password": "/account/password", "account.end_sessions": "/account/sessions/end",
    "account.close": "/account/close", "account.change": "/account/email",
    "account.choose": "/account/mail", "account.new": "/account/tokens/new",
    "teams.new": "/account/teams/new", "teams.join": "/join/{token}",
    "run_checks.check": "/campaigns/news/2026/check", "opinion.opinion": "/opinion",
    "api.submit_run": f"{API}/campaigns/news/evaluations/2026/submissions",
    "api.check": f"{API}/campaigns/news/evaluations/2026/check",
    "api.make_team": f"{API}/teams", "api.join_team": f"{API}/teams/join",
})  # fmt: skip
_forms(ONLY_ADMINS, {
    "organise_campaigns.new": "/organise/campaigns/new", "organise_people.site": "/organise/site",
    "organise_import.preview_whole": "/organise/import/preview",
    "organise_import.complete_whole": "/organise/import/manifest",
    "organise_import.take_in_whole": "/organise/import",
    "api.draft_import": f"{API}/organise/import/draft", "api.preview_import": f"{API}/organise/import/preview",
    "api.import_campaign": f"{API}/organise/import", "api.add_member": f"{API}/teams/sekretwoods/members",
})  # fmt: skip
_forms(_refused(403, *INSIDE), {
    "submissions.withdraw api.withdraw_run": "/submissions/{run}/withdraw",
    "submissions.stand api.let_run_stand": "/submissions/{run}/stand",
    "submissions.primary api.make_run_primary": "/submissions/{run}/primary",
    "submissions.save_description api.describe_run": "/submissions/{run}/describe",
}, {"results closed": _refused(404, *INSIDE)})  # fmt: skip
_forms(_refused(403, *INSIDE), {
    "systems.edit": "/teams/sekretwoods/sekretalder/edit",
    "systems.remove": "/teams/sekretwoods/sekretalder/remove",
    "api.describe_system": f"{API}/teams/sekretwoods/systems/sekretalder",
    "api.remove_system": f"{API}/teams/sekretwoods/systems/sekretalder/remove",
}, dict.fromkeys(TEAM_HIDDEN, _refused(404, *INSIDE)))  # fmt: skip
_forms(OWNERS, {
    "teams.invite api.invite": "/teams/sekretwoods/invitations",
    "teams.revoke api.revoke_invitation": "/teams/sekretwoods/invitations/{invitation}/revoke",
    "teams.remove api.remove_member": "/teams/sekretwoods/members/{member}/remove",
    "teams.change_role api.change_role": "/teams/sekretwoods/members/{member}/role",
}, _where_hidden(OWNERS))  # fmt: skip
_forms(NO_REQUEST, {
    "teams.answer api.accept_request": "/teams/sekretwoods/requests/999999/accept",
    "api.refuse_request": f"{API}/teams/sekretwoods/requests/999999/refuse",
}, _where_hidden(NO_REQUEST))  # fmt: skip
# it takes none
_forms(_refused(409), {
    "teams.ask api.ask_to_join": "/teams/sekretwoods/requests",
    "teams.take_back api.take_request_back": "/teams/sekretwoods/requests/back",
}, _where_hidden(_refused(409)))  # fmt: skip
_forms(_refused(403, *STAFF), {
    "api.rename_team": f"{API}/teams/sekretwoods/rename",
    "api.merge_team": f"{API}/teams/sekretwoods/into/sekretwoods",
}, _where_hidden(_refused(403, *STAFF)))  # fmt: skip
_forms(_refused(404, *TEAM), {"teams.leave api.leave_team": "/teams/sekretwoods/leave"})
_forms(
    {**_refused(404, *TEAM), "member of the team": 403},
    {"teams.change": "/account/teams/sekretwoods", "api.change_team": f"{API}/teams/sekretwoods/settings"},
)
_forms(
    _refused(403, *TEAM), {"api.make_system": f"{API}/teams/sekretwoods/systems"}, _where_hidden(_refused(403, *TEAM))
)
_forms(_refused(409), {
    "account.send_again": "/account/email/send",
    "account.confirm": "/account/email/confirm/not-a-token",
    "account.link": "/account/identities/link",
})  # fmt: skip
_forms(
    dict.fromkeys(KINDS, 409),
    {"account.register_identity": "/register/with", "account.reset": "/password/reset/not-a-token"},
)
_forms(_refused(404), {
    "account.end_session": "/account/sessions/999999/end",
})  # fmt: skip
_forms(_refused(400), {"account.remove": "/account/identities/999999/remove"})
_forms(_refused(404, "owner of the team", "admin"), {"account.revoke": "/account/tokens/{api_token}/revoke"})
_forms(_refused(403, "admin"), {"api.make_campaign": f"{API}/organise/campaigns"})
# without a team there is nobody to submit for; who may submit for which team: test_submit.py
_forms(
    _refused(403, "member of another team", *TEAM),
    {"submit.send": "/campaigns/news/2026/submit"},
    {"before opening": _refused(409)},
)

# What organisers have below a campaign is theirs alone, unless a table above says more: the site's routes have it.
PARTS = {
    "campaign": "news", "evaluation": "2026", "submission": "{run}", "member": "{member}", "system_id": "{system}",
    "team_id": "{team}", "other_id": "{other_team}", "team": "sekretwoods", "key": "terms",
}  # fmt: skip


def _add_rooms() -> None:
    site = Flask("rooms")
    register(site)
    rules = [rule for rule in site.url_map.iter_rules() if "/<campaign>" in rule.rule and "organise" in rule.rule]
    with_files = {rule.endpoint for rule in rules if rule.endpoint.endswith("_file")}
    for rule in rules:
        if rule.endpoint in with_files:
            continue
        address, methods = re.sub(r"<(?:int:)?(\w+)>", lambda part: PARTS[part[1]], rule.rule), rule.methods or ()
        if "POST" in methods:
            FORMS.setdefault(rule.endpoint, Form(address, NOT_ORGANISED, fields=FIELDS.get(rule.endpoint, {})))
        if "GET" in methods:
            files = {"": TO_ORGANISERS} if f"{rule.endpoint}_file" in with_files else None
            usual = ORGANISED if address.startswith(API) else ROOMS
            PAGES.setdefault(rule.endpoint, (Page(address, usual, files=files),))


_add_rooms()


@dataclass(frozen=True, slots=True)
class Secret:
    """A text that was planted once, as a regular expression, and who finds it: in most phases, and in others."""

    text: str
    usual: frozenset[str]
    phases: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def seen_by(self, phase: str) -> frozenset[str]:
        return self.phases.get(phase, self.usual & KNOWN.get(phase, EVERYONE))


OTHERS = STAFF | {"member of another team"}
NAMED = {"anonymous": INSIDE, "results closed": INSIDE}  # where a run can be told to be its team's
OWN = {**NAMED, **dict.fromkeys(KNOWN, INSIDE)}  # what the team knows of itself, wherever it takes part

# What they show is the same for everybody: staff reads there what visitors do.
SAME_FOR_ALL = {"sharing.card", "sharing.badge"}

SECRETS: dict[str, Secret] = {
    "text of a query": Secret("sekrettext", EVERYONE, {"before opening": STAFF}),
    "tag of a query": Secret("sekrettag", EVERYONE, {"before opening": STAFF}),
    "id of a hidden query": Secret("sekretquery", STAFF, dict.fromkeys(AFTER_CLOSING, EVERYONE)),
    "text of a hidden query": Secret("sekrethidden", STAFF, dict.fromkeys(AFTER_CLOSING, EVERYONE)),
    "grade of a document": Secret(r"(?<![\w.-])777(?![\w-])", STAFF, dict.fromkeys(DETAILS_OPEN, EVERYONE)),
    "grade on a hidden query": Secret(r"(?<![\w.-])888(?![\w-])", STAFF, {"closed": EVERYONE, "anonymous": EVERYONE}),
    "relevant document that the run lacks": Secret("sekretmissed", STAFF, {"closed": EVERYONE}),
    "source of other judgments": Secret("sekretsource", STAFF, dict.fromkeys(DETAILS_OPEN, EVERYONE)),
    "mean by other judgments": Secret(r"0\.136\b|0\.1358\b|0\.13579", STAFF, dict.fromkeys(DETAILS_OPEN, EVERYONE)),
    "figure without a team's own finds": Secret(r"0\.573", frozenset(), {"hidden queries": EVERYONE - STAFF}),
    "the same over hidden queries": Secret(r"0\.295\b|0\.29461", STAFF, {"closed": EVERYONE}),
    "value of a query": Secret(r"0\.832\b|0\.8317", STAFF, dict.fromkeys(DETAILS_OPEN, EVERYONE)),
    "figure over a tag": Secret(r"0\.692\b|0\.6918|0\.69179", STAFF, dict.fromkeys(DETAILS_OPEN, EVERYONE)),
    "value of a hidden query": Secret(r"0\.021\b|0\.0213", STAFF, {"closed": EVERYONE, "anonymous": EVERYONE}),
    "mean with its digits": Secret(r"0\.618\b|0\.6179", frozenset(), {"hidden queries": EVERYONE - STAFF}),
    "mean over hidden queries": Secret(r"0\.469\b|0\.46875", STAFF, {"closed": EVERYONE, "anonymous": EVERYONE}),
    "team": Secret("Sekretwoods", EVERYONE, OWN),
    "system": Secret("Sekretalder", EVERYONE, OWN),
    "rank of a run": Secret(r"Rank \d of \d", EVERYONE, {"results closed": STAFF}),
    "system of another team": Secret("Otheralder", EVERYONE, {"anonymous": OTHERS, "results closed": OTHERS}),
    "label of a run": Secret("sekretlabel", EVERYONE, NAMED),
    "notes of a run": Secret("sekretnotes", INSIDE),
    "name of a run's file": Secret("sekretfile", INSIDE),
    "answer for organisers that the run's own file gives": Secret("sekretanswer", INSIDE),
    "what a run says of itself": Secret("sekretsaid", EVERYONE, NAMED),
    "receipt of a run": Secret("5e" * 32, EVERYONE, NAMED),
    "who submitted a run": Secret("Sekretada", INSIDE, dict.fromkeys(KNOWN, INSIDE)),
    "why a file was rejected": Secret("sekretproblem", INSIDE),
    "why a run was withdrawn": Secret("sekretreason", INSIDE),
    "who is in the team": Secret("Sekretben", TEAM | {"admin"}, dict.fromkeys(KNOWN, TEAM | {"admin"})),
    "mail address": Secret(
        "sekretmail", frozenset({"owner of the team"}), dict.fromkeys(KNOWN, frozenset({"owner of the team"}))
    ),
    "evaluation": Secret("The year 2026", EVERYONE),
    "campaign": Secret("News search", EVERYONE, {"draft evaluation": EVERYONE}),
}
