"""Who sees what, written by hand from the rules: the tables that `test_access_matrix.py` holds the site against.

Eight kinds of people look at one evaluation in the phases of its life; in some it is absent for most of them. `PAGES`
says how each address answers them, `FORMS` who may send which form, `SECRETS` who may find what, wherever it is.
"""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from leaderboard.campaigns.rules import Visibility
from leaderboard.evaluations.rules.phases import Opening
from tests.support.field import DAY, NOW

__all__ = ["FORMS", "KINDS", "PAGES", "PHASES", "SECRETS", "VISIBILITY", "Form", "Page", "Secret", "is_absent"]

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
# Where no run can be told to be the team's, which is not listed, it is absent for outsiders.
TEAM_HIDDEN = ("results closed", "anonymous", *KNOWN)
ONLY_INSIDE_BY = dict.fromkeys(TEAM_HIDDEN, ONLY_INSIDE)

# Endpoint -> its addresses. {run}, {rejected} and {withdrawn} are runs of the team, {token} is an invitation of it.
PAGES: dict[str, tuple[Page, ...]] = {
    "campaigns.front": (Page("/", PUBLIC),),
    "campaigns.campaign": (Page("/campaigns/news", PUBLIC, files=AS_THE_PAGE),),
    "progress.progress": (Page("/campaigns/news/progress", PUBLIC, files=AS_THE_PAGE),),
    "boards.board": (
        Page("/campaigns/news/2026", PUBLIC, files=AS_THE_PAGE),
        Page("/campaigns/news/2026?show=all", PUBLIC),
        Page(  # the tag of the hidden query alone: one value
            "/campaigns/news/2026?tag=law",
            ORGANISERS,
            {"closed": PUBLIC, "anonymous": PUBLIC, "hidden queries": (400, 400, 400, 200)},
        ),
    ),
    "stood.index": (Page("/campaigns/news/2026/boards", PUBLIC),),
    "stood.board": (
        Page("/campaigns/news/2026/boards/{current_set}", PUBLIC, files=AS_THE_PAGE),
        Page("/campaigns/news/2026/boards/{beside_set}", BESIDE, dict.fromkeys(DETAILS_OPEN, PUBLIC), AS_THE_PAGE),
        Page("/campaigns/news/2025/boards/{current_set}", NOBODY, files=AS_THE_PAGE),
    ),
    "stood.what_moved": (
        Page(
            "/campaigns/news/2026/boards/{current_set}/to/{beside_set}",
            BESIDE,
            dict.fromkeys(DETAILS_OPEN, PUBLIC),
            AS_THE_PAGE,
        ),
        Page("/campaigns/news/2026/boards/{current_set}/to/{current_set}", PUBLIC, files=AS_THE_PAGE),
    ),
    "stood.sources": (
        Page("/campaigns/news/2026/sources", ORGANISERS, dict.fromkeys(DETAILS_OPEN, PUBLIC), AS_THE_PAGE),
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
    "queries.query_list": (Page("/campaigns/news/2026/queries", PUBLIC, files=AS_THE_PAGE),),
    "queries.query": (
        Page("/campaigns/news/2026/queries/q1", ORGANISERS, dict.fromkeys(DETAILS_OPEN, PUBLIC), AS_THE_PAGE),
        Page("/campaigns/news/2026/queries/sekretquery", ORGANISERS, HIDDEN, AS_THE_PAGE),
        Page("/campaigns/news/2026/queries/none", NO_SUCH_QUERY, dict.fromkeys(DETAILS_OPEN, NOBODY), AS_THE_PAGE),
    ),
    "comparing.runs": (
        Page("/campaigns/news/2026/compare", ORGANISERS, dict.fromkeys(DETAILS_OPEN, PUBLIC), AS_THE_PAGE),
        Page(
            "/campaigns/news/2026/compare?a={run}&b={other}",
            ORGANISERS,
            dict.fromkeys(DETAILS_OPEN, PUBLIC),
            AS_THE_PAGE,
        ),
        Page(
            "/campaigns/news/2026/compare?a={withdrawn}&b={other}",
            NO_SUCH_QUERY,
            dict.fromkeys(DETAILS_OPEN, NOBODY),
            AS_THE_PAGE,
        ),
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
    "queries.query_rows": (Page("/campaigns/news/2026/queries.tsv", PUBLIC),),
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
    "ranked_lists.ranked_list": (
        Page(
            "/submissions/{run}/queries/q1",
            ORGANISERS,
            {**dict.fromkeys(DETAILS_OPEN, PUBLIC), "results closed": (404, 404, 403, 200)},
            AS_THE_PAGE,
        ),
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
    "teams.show": (Page("/teams/sekretwoods", PUBLIC, ONLY_INSIDE_BY, told=frozenset({"team"})),),
    "systems.system": (
        Page(
            "/teams/sekretwoods/sekretalder",
            PUBLIC,
            ONLY_INSIDE_BY,
            AS_THE_PAGE,
            told=frozenset({"team", "system"}),
        ),
    ),
    "systems.edit": (
        Page(
            "/teams/sekretwoods/sekretalder/edit",
            ASKED,
            dict.fromkeys(TEAM_HIDDEN, ROOM_OF_RUN),
            told=frozenset({"team", "system"}),
        ),
    ),
    "teams.invitation": (
        Page("/join/{token}", (200, 200, 302, 200), told=frozenset({"team"})),  # who is in the team is led to it
        Page("/join/not-a-token", NOBODY),
    ),
    "teams.find": (Page("/teams", ACCOUNTS), Page("/teams?words=sekret", ACCOUNTS)),  # this team is not listed
    "teams.change": (Page("/account/teams/sekretwoods", (302, 404, 200, 404), told=frozenset({"team"})),),
    "teams.new": (Page("/account/teams/new", ACCOUNTS),),
    "teams.leave": (Page("/teams/sekretwoods/leave", (302, 404, 200, 404), told=frozenset({"team"})),),
    "teams.remove": (
        Page(
            "/teams/sekretwoods/members/{member}/remove",
            (302, 403, 200, 403),
            dict.fromkeys(TEAM_HIDDEN, (302, 404, 200, 403)),
            told=frozenset({"team"}),
            only_owners=True,
        ),
    ),
    "organise.index": (Page("/organise", ACCOUNTS),),
    "organise.campaign": (Page("/organise/news", ROOMS),),
    "organise_systems.index": (Page("/organise/news/systems", ROOMS),),
    "organise_systems.show": (
        Page("/organise/news/systems/{system}", ROOMS),
        Page("/organise/elsewhere/systems/{system}", ELSEWHERE),
    ),
    "organise_teams.index": (Page("/organise/news/teams", ROOMS),),
    "organise_teams.show": (
        Page("/organise/news/teams/{team}", ROOMS),
        Page("/organise/elsewhere/teams/{team}", ELSEWHERE),
    ),
    "organise_teams.ask_merge": (
        Page("/organise/news/teams/{team}/merge?into={other_team}", ROOMS),
        Page("/organise/news/teams/{team}/merge?into={team}", (302, 404, 404, 404)),
    ),
    "organise_trail.index": (Page("/organise/news/trail", ROOMS, files={"": TO_ORGANISERS}),),
    "organise_submissions.of_campaign": (
        Page("/organise/news/submissions", ROOMS, files={"": TO_ORGANISERS}),
        Page("/organise/news/submissions?state=none", (302, 404, 404, 400)),
    ),
    "organise_submissions.of_evaluation": (Page("/organise/news/2026/submissions", ROOMS, files={"": TO_ORGANISERS}),),
    "organise_submissions.show": (
        Page("/organise/news/2026/submissions/{run}", ROOMS),
        Page("/organise/news/2025/submissions/{run}", (302, 404, 404, 404)),  # it is one to another evaluation
    ),
    "organise_submissions.fetch": (
        # Nothing stands in the store of this world.
        Page("/organise/news/2026/submissions/{run}/file", (302, 404, 404, 503)),
        Page("/organise/news/2025/submissions/{run}/file", (302, 404, 404, 404)),
    ),
    "organise.evaluation": (Page("/organise/news/2026", ROOMS),),
    "organise_forms.index": (Page("/organise/news/2026/form", ROOMS),),
    "organise_queries.index": (Page("/organise/news/2026/queries", ROOMS),),
    "organise_judgments.index": (Page("/organise/news/2026/judgments", ROOMS),),
    "organise_campaigns.new": (Page("/organise/campaigns/new", ROOMS, only_admins=True),),
    "organise_import.whole": (Page("/organise/import", ROOMS, only_admins=True),),
    "organise_import.into": (Page("/organise/news/import", ROOMS),),
    "organise_import.export": (Page("/organise/news/export.tar.gz", (302, 404, 404, 503)),),  # the same
    "organise_campaigns.settings": (Page("/organise/news/settings", ROOMS),),
    "organise_people.show": (Page("/organise/news/organisers", ROOMS, told=frozenset({"team"})),),
    "organise_people.remove": (Page("/organise/news/organisers/999999/remove", ELSEWHERE),),  # no organiser
    "organise_people.founders": (Page("/organise/founders", ROOMS, only_admins=True),),
    "organise_evaluations.new": (Page("/organise/news/evaluations/new", ROOMS),),
    "organise_evaluations.settings": (Page("/organise/news/2026/settings", ROOMS),),
    "organise_evaluations.clone": (Page("/organise/news/2026/clone", ROOMS),),
    "submit.new": (Page("/campaigns/news/2026/submit", ACCOUNTS),),
    # A run that waits is its sender's alone: test_before_the_queue.py.
    "submit.waiting": (Page("/campaigns/news/2026/submit/999999", (302, 404, 404, 404)),),
    "run_checks.new": (Page("/campaigns/news/2026/check", ACCOUNTS),),
    "account.show": (Page("/account/", ACCOUNTS),),
    "account.password": (Page("/account/password", ACCOUNTS),),
    "account.close": (Page("/account/close", ACCOUNTS),),
    "addresses.change": (Page("/account/email", ACCOUNTS),),
    "addresses.choose": (Page("/account/mail", ACCOUNTS),),
    "addresses.confirmation": (Page("/account/email/confirm/not-a-token", (302, 409, 409, 409)),),
    "identities.begin": (Page("/login/with/nobody", NOBODY),),
    "identities.back": (Page("/login/with/nobody/back?code=1&state=2", NOBODY),),
    "identities.register": (Page("/register/with", NO_LINK),),  # nothing was proven in these browsers
    "identities.link": (Page("/account/identities/link", (302, 409, 409, 409)),),
    "identities.remove": (Page("/account/identities/999999/remove", ACCOUNTS),),
    "resets.forgotten": (Page("/password/forgotten", PUBLIC),),
    "resets.reset": (Page("/password/reset/not-a-token", NO_LINK),),
    "auth.log_in": (Page("/login", PUBLIC),),
    "auth.register": (Page("/register", PUBLIC),),
    "measures.index": (Page("/measures/", PUBLIC),),
    "measures.show": (Page("/measures/AP", PUBLIC),),
    "documents.document": (Page("/docs/statistics.md", PUBLIC), Page("/docs/nothing.md", NOBODY)),
    "documents.decision": (Page("/docs/decisions/0007-scipy.md", PUBLIC),),
    "documents.security": (Page("/SECURITY.md", PUBLIC),),
    "health.healthz": (Page("/healthz", PUBLIC),),
    "api_guide.guide": (Page("/api", PUBLIC),),
    "tokens.new": (Page("/account/tokens/new", ACCOUNTS),),
    # The API answers as the page does that shows the same.
    "api.openapi": (Page(f"{API}/openapi.json", PUBLIC),),
    "api.list_campaigns": (Page(f"{API}/campaigns", PUBLIC),),
    "api.campaign": (Page(f"{API}/campaigns/news", PUBLIC),),
    "api.campaign_progress": (Page(f"{API}/campaigns/news/progress", PUBLIC),),
    "api.board": (
        Page(f"{API}/campaigns/news/evaluations/2026/board", PUBLIC),
        Page(f"{API}/campaigns/news/evaluations/2026/board?show=all", PUBLIC),
        Page(
            f"{API}/campaigns/news/evaluations/2026/board?tag=law",
            ORGANISERS,
            {"closed": PUBLIC, "anonymous": PUBLIC, "hidden queries": (400, 400, 400, 200)},
        ),
    ),
    "api.list_queries": (Page(f"{API}/campaigns/news/evaluations/2026/queries", PUBLIC),),
    "api.query": (
        Page(f"{API}/campaigns/news/evaluations/2026/queries/q1", ORGANISERS, dict.fromkeys(DETAILS_OPEN, PUBLIC)),
        Page(f"{API}/campaigns/news/evaluations/2026/queries/sekretquery", ORGANISERS, HIDDEN),
        Page(f"{API}/campaigns/news/evaluations/2026/queries/none", NO_SUCH_QUERY, dict.fromkeys(DETAILS_OPEN, NOBODY)),
    ),
    "api.compare": (
        Page(f"{API}/campaigns/news/evaluations/2026/compare", ORGANISERS, dict.fromkeys(DETAILS_OPEN, PUBLIC)),
        Page(
            f"{API}/campaigns/news/evaluations/2026/compare?a={{run}}&b={{other}}",
            ORGANISERS,
            dict.fromkeys(DETAILS_OPEN, PUBLIC),
        ),
    ),
    "api.query_rows": (Page(f"{API}/campaigns/news/evaluations/2026/queries.tsv", PUBLIC),),
    "api.list_boards": (Page(f"{API}/campaigns/news/evaluations/2026/boards", PUBLIC),),
    "api.old_board": (
        Page(f"{API}/campaigns/news/evaluations/2026/boards/{{current_set}}", PUBLIC),
        Page(
            f"{API}/campaigns/news/evaluations/2026/boards/{{beside_set}}",
            BESIDE,
            dict.fromkeys(DETAILS_OPEN, PUBLIC),
        ),
        Page(f"{API}/campaigns/news/evaluations/2025/boards/{{current_set}}", NOBODY),
    ),
    "api.what_moved": (
        Page(
            f"{API}/campaigns/news/evaluations/2026/boards/{{current_set}}/to/{{beside_set}}",
            BESIDE,
            dict.fromkeys(DETAILS_OPEN, PUBLIC),
        ),
        Page(f"{API}/campaigns/news/evaluations/2026/boards/{{current_set}}/to/{{current_set}}", PUBLIC),
    ),
    "api.list_sources": (
        Page(f"{API}/campaigns/news/evaluations/2026/sources", ORGANISERS, dict.fromkeys(DETAILS_OPEN, PUBLIC)),
    ),
    "api.published_judgments": (
        Page(f"{API}/campaigns/news/evaluations/2026/judgments", ORGANISERS, {"closed": PUBLIC}),
    ),
    **{
        f"api.{name}": (Page(f"{API}/campaigns/news/evaluations/2026/{file}.txt", ORGANISERS, {"closed": PUBLIC}),)
        for name, file in (
            ("qrels", "judgments"),
            ("known_documents", "known"),
            ("subtopic_judgments", "subtopics"),
        )
    },
    "api.judged_documents": (
        Page(f"{API}/campaigns/news/evaluations/2026/judgments/q1", ORGANISERS, {"closed": PUBLIC}),
        Page(f"{API}/campaigns/news/evaluations/2026/judgments/sekretquery", ORGANISERS, {"closed": PUBLIC}),
        Page(f"{API}/campaigns/news/evaluations/2026/judgments/none", NO_SUCH_QUERY, {"closed": NOBODY}),
    ),
    "api.run_bytes": (  # nothing stands in the store of this world
        Page(f"{API}/submissions/{{run}}/file", (401, 403, 503, 503), {"results closed": (401, 404, 503, 503)}),
    ),
    "api.effect": (Page(f"{API}/submissions/{{run}}/effect", ASKED_API, {"results closed": ROOM_OF_RUN_API}),),
    "api.find_teams": (Page(f"{API}/teams", TOKENS), Page(f"{API}/teams?words=sekret", TOKENS)),
    "api.team_settings": (Page(f"{API}/teams/sekretwoods/settings", (401, 404, 200, 404), told=frozenset({"team"})),),
    "api.list_requests": (Page(f"{API}/teams/sekretwoods/requests", ROOM_OF_TEAM, only_admins=True),),
    "api.list_invitations": (Page(f"{API}/teams/sekretwoods/invitations", ROOM_OF_TEAM, only_admins=True),),
    "api.list_systems": (Page(f"{API}/organise/campaigns/news/systems", ORGANISED),),
    "api.organised_system": (
        Page(f"{API}/organise/campaigns/news/systems/{{system}}", ORGANISED),
        Page(f"{API}/organise/campaigns/elsewhere/systems/{{system}}", NOT_HERE),
    ),
    "api.list_teams": (Page(f"{API}/organise/campaigns/news/teams", ORGANISED),),
    "api.preview_merge": (
        Page(f"{API}/organise/campaigns/news/teams/{{team}}/into/{{other_team}}", ORGANISED),
        Page(f"{API}/organise/campaigns/elsewhere/teams/{{team}}/into/{{other_team}}", NOT_HERE),
    ),
    "api.list_organisers": (Page(f"{API}/organise/campaigns/news/organisers", ORGANISED, told=frozenset({"team"})),),
    "api.list_founders": (Page(f"{API}/organise/founders", ORGANISED, only_admins=True),),
    "api.trail": (Page(f"{API}/organise/campaigns/news/trail", ORGANISED),),
    "api.may_submit": (Page(f"{API}/campaigns/news/evaluations/2026/submitting", TOKENS),),
    "api.submission": (
        Page(f"{API}/submissions/{{run}}", PUBLIC, {"results closed": ONLY_INSIDE}),
        Page(f"{API}/submissions/{{rejected}}", ONLY_INSIDE),
        Page(f"{API}/submissions/{{withdrawn}}", ONLY_INSIDE),
        Page(f"{API}/submissions/999999", NOBODY),
    ),
    "api.submission_results": (
        Page(f"{API}/submissions/{{run}}/results", PUBLIC, {"results closed": ONLY_INSIDE}),
        Page(f"{API}/submissions/{{rejected}}/results", NOBODY),
        Page(f"{API}/submissions/{{withdrawn}}/results", ONLY_INSIDE),
    ),
    "api.submission_receipt": (
        Page(f"{API}/submissions/{{run}}/receipt", PUBLIC, {"results closed": ONLY_INSIDE}),
        Page(f"{API}/submissions/{{rejected}}/receipt", NOBODY),
    ),
    "api.ranked_list": (
        Page(
            f"{API}/submissions/{{run}}/queries/q1",
            ORGANISERS,
            {**dict.fromkeys(DETAILS_OPEN, PUBLIC), "results closed": (404, 404, 403, 200)},
        ),
        Page(
            f"{API}/submissions/{{run}}/queries/sekretquery",
            ORGANISERS,
            {**HIDDEN, "results closed": (404, 404, 403, 200)},
        ),
    ),
    "api.team": (Page(f"{API}/teams/sekretwoods", PUBLIC, ONLY_INSIDE_BY, told=frozenset({"team"})),),
    "api.system": (
        Page(
            f"{API}/teams/sekretwoods/systems/sekretalder",
            PUBLIC,
            ONLY_INSIDE_BY,
            told=frozenset({"team", "system"}),
        ),
    ),
    "api.list_measures": (Page(f"{API}/measures", PUBLIC),),
    "api.measure": (Page(f"{API}/measures/AP", PUBLIC), Page(f"{API}/measures/nothing", NOBODY)),
    "api.sending": (Page(f"{API}/sendings/none", (401, 404, 404, 404)),),
    "api.list_organised": (Page(f"{API}/organise/campaigns", TOKENS),),
    "api.organised_campaign": (Page(f"{API}/organise/campaigns/news", ORGANISED),),
    "api.organised_evaluation": (Page(f"{ORGANISED_2026}", ORGANISED),),
    "api.evaluation_readiness": (Page(f"{ORGANISED_2026}/readiness", ORGANISED),),
    "api.organised_queries": (Page(f"{ORGANISED_2026}/queries", ORGANISED),),
    "api.organised_judgments": (Page(f"{ORGANISED_2026}/judgments", ORGANISED),),
    "api.organised_evaluations": (Page(f"{API}/organise/campaigns/news/evaluations", ORGANISED),),
    "api.list_organised_evaluations": (Page(f"{API}/organise/evaluations", TOKENS),),
    # Nothing stands in the store of this world.
    "api.export_campaign": (Page(f"{API}/organise/campaigns/news/export.tar.gz", (401, 404, 404, 503)),),
    "api.submission_form": (Page(f"{ORGANISED_2026}/form", ORGANISED),),
    "api.list_submissions": (Page(f"{ORGANISED_2026}/submissions", ORGANISED),),
    "api.list_campaign_submissions": (Page(f"{API}/organise/campaigns/news/submissions", ORGANISED),),
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
NOT_ON_A_BOARD = {"results closed": _refused(404, *INSIDE)}
ONLY_ADMINS = _refused(404, "admin")
OWNERS = _refused(403, "owner of the team", "admin")
NO_REQUEST = {**OWNERS, "owner of the team": 404, "admin": 404}
ABSENT = {kind: 404 for kind in KINDS if kind != "visitor" and kind not in INSIDE}


def _where_hidden(refused: Mapping[str, int]) -> dict[str, Mapping[str, int]]:
    """Phase -> who is refused there, where the team is absent for outsiders."""
    return {phase: {**refused, **ABSENT} for phase in TEAM_HIDDEN}


NOT_ORGANISED = _refused(404, *STAFF)  # for others it is as if there were no room

FORMS: dict[str, Form] = {
    "auth.log_in": Form("/login", {}),
    "auth.log_out": Form("/logout", {}),
    "auth.register": Form("/register", {}),
    "account.password": Form("/account/password", LOG_IN_FIRST),
    "account.end_sessions": Form("/account/sessions/end", LOG_IN_FIRST),
    "account.end_session": Form("/account/sessions/999999/end", _refused(404)),
    "account.close": Form("/account/close", LOG_IN_FIRST),
    "addresses.change": Form("/account/email", LOG_IN_FIRST),
    "addresses.choose": Form("/account/mail", LOG_IN_FIRST),
    "addresses.send_again": Form("/account/email/send", _refused(409)),
    "addresses.confirm": Form("/account/email/confirm/not-a-token", _refused(409)),
    "identities.register": Form("/register/with", dict.fromkeys(KINDS, 409)),
    "identities.link": Form("/account/identities/link", _refused(409)),
    "identities.remove": Form("/account/identities/999999/remove", _refused(400)),
    "resets.forgotten": Form("/password/forgotten", {}),
    "resets.reset": Form("/password/reset/not-a-token", dict.fromkeys(KINDS, 409)),
    "api.submit_run": Form(f"{API}/campaigns/news/evaluations/2026/submissions", LOG_IN_FIRST),
    "api.check": Form(f"{API}/campaigns/news/evaluations/2026/check", LOG_IN_FIRST),
    "api.withdraw_run": Form(f"{API}/submissions/{{run}}/withdraw", _refused(403, *INSIDE), NOT_ON_A_BOARD),
    "api.let_run_stand": Form(f"{API}/submissions/{{run}}/stand", _refused(403, *INSIDE), NOT_ON_A_BOARD),
    "api.make_run_primary": Form(f"{API}/submissions/{{run}}/primary", _refused(403, *INSIDE), NOT_ON_A_BOARD),
    "api.describe_run": Form(
        f"{API}/submissions/{{run}}/describe",
        _refused(403, *INSIDE),
        NOT_ON_A_BOARD,
        fields={"label": "another", "notes": ""},
    ),
    "api.make_campaign": Form(
        f"{API}/organise/campaigns", _refused(403, "admin"), fields={"title": "Mine", "measures": ["AP"]}
    ),
    **{
        f"api.{act}_campaign": Form(f"{API}/organise/campaigns/news/{act}", NOT_ORGANISED)
        for act in ("archive", "unarchive", "remove")
    },
    "api.change_campaign": Form(f"{API}/organise/campaigns/news", NOT_ORGANISED),
    "api.make_evaluation": Form(
        f"{API}/organise/campaigns/news/evaluations",
        NOT_ORGANISED,
        fields={"slug": "2027", "title": "The year 2027", "period": "2027"},
    ),
    "api.change_evaluation": Form(ORGANISED_2026, NOT_ORGANISED),
    "api.draft_import": Form(f"{API}/organise/import/draft", ONLY_ADMINS),
    "api.preview_import": Form(f"{API}/organise/import/preview", ONLY_ADMINS),
    "api.import_campaign": Form(f"{API}/organise/import", ONLY_ADMINS, fields={"kept": "nothing"}),
    "api.draft_import_into": Form(f"{API}/organise/campaigns/news/import/draft", NOT_ORGANISED),
    "api.preview_import_into": Form(f"{API}/organise/campaigns/news/import/preview", NOT_ORGANISED),
    "api.import_into": Form(f"{API}/organise/campaigns/news/import", NOT_ORGANISED, fields={"kept": "nothing"}),
    "api.clone_evaluation": Form(f"{ORGANISED_2026}/clone", NOT_ORGANISED),
    "api.remove_evaluation": Form(f"{ORGANISED_2026}/remove", NOT_ORGANISED),
    **{
        f"api.{name}": Form(f"{ORGANISED_2026}/form/{address}", NOT_ORGANISED, fields=fields)
        for name, address, fields in (
            ("set_form_field", "fields", {"key": "model", "label": "Model"}),
            ("remove_form_field", "fields/model/remove", {}),
            ("state_agreement", "agreements", {"key": "terms", "title": "Terms", "wording": "Be fair."}),
            ("end_agreement", "agreements/terms/end", {}),
            ("set_file_rules", "rules", {"most_documents": 10}),
            ("set_document_list", "documents", {}),
            ("remove_document_list", "documents/remove", {}),
            ("copy_form", "copy", {"source": "2025"}),
        )
    },
    "api.preview_queries": Form(f"{ORGANISED_2026}/queries/preview", NOT_ORGANISED),
    "api.rename_source": Form(
        f"{ORGANISED_2026}/judgments/rename", NOT_ORGANISED, fields={"source": "sekretsource", "name": "other"}
    ),
    "api.remove_source": Form(f"{ORGANISED_2026}/judgments/remove", NOT_ORGANISED, fields={"source": "sekretsource"}),
    "api.preview_judgments": Form(f"{ORGANISED_2026}/judgments/preview", NOT_ORGANISED),
    "api.make_source_official": Form(
        f"{ORGANISED_2026}/judgments/official", NOT_ORGANISED, fields={"source": "sekretsource"}
    ),
    "api.add_queries": Form(f"{ORGANISED_2026}/queries", NOT_ORGANISED),
    "api.add_judgments": Form(f"{ORGANISED_2026}/judgments", NOT_ORGANISED),
    **{
        f"api.{act}_queries": Form(f"{ORGANISED_2026}/queries/{act}", NOT_ORGANISED, fields={"queries": ["q1"]})
        for act in ("include", "hide", "show", "remove")
    },
    "api.exclude_queries": Form(
        f"{ORGANISED_2026}/queries/exclude", NOT_ORGANISED, fields={"queries": ["q1"], "because": "unclear"}
    ),
    "api.take_run_off": Form(
        f"{ORGANISED_2026}/submissions/{{run}}/take-off",
        NOT_ORGANISED,
        fields={"ruling": "hidden", "because": "a reason"},
    ),
    "api.restore_run": Form(f"{ORGANISED_2026}/submissions/{{run}}/restore", NOT_ORGANISED),
    "api.retry_run": Form(f"{ORGANISED_2026}/submissions/{{run}}/retry", NOT_ORGANISED),
    "api.rescore_runs": Form(f"{ORGANISED_2026}/rescore", NOT_ORGANISED),
    "api.retry_failed_runs": Form(f"{ORGANISED_2026}/retry-failed", NOT_ORGANISED),
    "api.make_team": Form(f"{API}/teams", LOG_IN_FIRST),
    "api.join_team": Form(f"{API}/teams/join", LOG_IN_FIRST),
    "api.change_team": Form(f"{API}/teams/sekretwoods/settings", {**_refused(404, *TEAM), "member of the team": 403}),
    "api.ask_to_join": Form(
        f"{API}/teams/sekretwoods/requests", _refused(409), _where_hidden(_refused(409))
    ),  # it takes none
    "api.take_request_back": Form(
        f"{API}/teams/sekretwoods/requests/back", _refused(409), _where_hidden(_refused(409))
    ),
    **{
        f"api.{act}_request": Form(
            f"{API}/teams/sekretwoods/requests/999999/{act}", NO_REQUEST, _where_hidden(NO_REQUEST)
        )
        for act in ("accept", "refuse")
    },
    "api.invite": Form(f"{API}/teams/sekretwoods/invitations", OWNERS, _where_hidden(OWNERS)),
    "api.revoke_invitation": Form(
        f"{API}/teams/sekretwoods/invitations/{{invitation}}/revoke", OWNERS, _where_hidden(OWNERS)
    ),
    "api.leave_team": Form(f"{API}/teams/sekretwoods/leave", _refused(404, *TEAM)),
    "api.remove_member": Form(f"{API}/teams/sekretwoods/members/{{member}}/remove", OWNERS, _where_hidden(OWNERS)),
    "api.change_role": Form(
        f"{API}/teams/sekretwoods/members/{{member}}/role", OWNERS, _where_hidden(OWNERS), fields={"role": "member"}
    ),
    "api.make_system": Form(
        f"{API}/teams/sekretwoods/systems",
        _refused(403, *TEAM),
        _where_hidden(_refused(403, *TEAM)),
        fields={"name": "Another one"},
    ),
    "api.describe_system": Form(
        f"{API}/teams/sekretwoods/systems/sekretalder",
        _refused(403, *INSIDE),
        dict.fromkeys(TEAM_HIDDEN, _refused(404, *INSIDE)),
    ),
    "api.remove_system": Form(
        f"{API}/teams/sekretwoods/systems/sekretalder/remove",
        _refused(403, *INSIDE),
        dict.fromkeys(TEAM_HIDDEN, _refused(404, *INSIDE)),
    ),
    "api.change_organised_system": Form(f"{API}/organise/campaigns/news/systems/{{system}}", NOT_ORGANISED),
    "api.rename_team": Form(
        f"{API}/organise/campaigns/news/teams/{{team}}", NOT_ORGANISED, fields={"name": "Sekretwoods too"}
    ),
    "api.merge_team": Form(f"{API}/organise/campaigns/news/teams/{{team}}/into/{{other_team}}", NOT_ORGANISED),
    "api.add_organiser": Form(f"{API}/organise/campaigns/news/organisers", NOT_ORGANISED, fields={"name": "Sekretada"}),
    "api.remove_organiser": Form(f"{API}/organise/campaigns/news/organisers/{{member}}/remove", NOT_ORGANISED),
    "api.let_team_in": Form(f"{API}/organise/campaigns/news/teams-let-in", NOT_ORGANISED, fields={"team": "meadow"}),
    "api.let_team_out": Form(f"{API}/organise/campaigns/news/teams-let-in/sekretwoods/remove", NOT_ORGANISED),
    "api.add_founder": Form(f"{API}/organise/founders", ONLY_ADMINS, fields={"name": "Nora"}),
    "api.remove_founder": Form(f"{API}/organise/founders/remove", ONLY_ADMINS, fields={"name": "Nora"}),
    "tokens.new": Form("/account/tokens/new", LOG_IN_FIRST),
    "tokens.revoke": Form("/account/tokens/{api_token}/revoke", _refused(404, "owner of the team", "admin")),
    "teams.new": Form("/account/teams/new", LOG_IN_FIRST),
    "teams.join": Form("/join/{token}", LOG_IN_FIRST),
    "teams.invite": Form("/teams/sekretwoods/invitations", OWNERS, _where_hidden(OWNERS)),
    "teams.revoke": Form("/teams/sekretwoods/invitations/{invitation}/revoke", OWNERS, _where_hidden(OWNERS)),
    "teams.remove": Form("/teams/sekretwoods/members/{member}/remove", OWNERS, _where_hidden(OWNERS)),
    "teams.change_role": Form("/teams/sekretwoods/members/{member}/role", OWNERS, _where_hidden(OWNERS)),
    "teams.change": Form("/account/teams/sekretwoods", {**_refused(404, *TEAM), "member of the team": 403}),
    "teams.ask": Form("/teams/sekretwoods/requests", _refused(409), _where_hidden(_refused(409))),  # it takes none
    "teams.take_back": Form("/teams/sekretwoods/requests/back", _refused(409), _where_hidden(_refused(409))),
    "teams.answer": Form("/teams/sekretwoods/requests/999999/accept", NO_REQUEST, _where_hidden(NO_REQUEST)),
    "teams.leave": Form("/teams/sekretwoods/leave", _refused(404, *TEAM)),
    "organise_campaigns.new": Form("/organise/campaigns/new", ONLY_ADMINS),
    "organise_import.preview_whole": Form("/organise/import/preview", ONLY_ADMINS),
    "organise_import.complete_whole": Form("/organise/import/manifest", ONLY_ADMINS),
    "organise_import.take_in_whole": Form("/organise/import", ONLY_ADMINS),
    "organise_import.preview_into": Form("/organise/news/import/preview", NOT_ORGANISED),
    "organise_import.complete_into": Form("/organise/news/import/manifest", NOT_ORGANISED),
    "organise_import.take_in_into": Form("/organise/news/import", NOT_ORGANISED),
    "organise_campaigns.settings": Form("/organise/news/settings", NOT_ORGANISED),
    "organise_campaigns.archive": Form("/organise/news/archive", NOT_ORGANISED),
    "organise_campaigns.remove": Form("/organise/news/remove", NOT_ORGANISED),
    "organise_people.add": Form("/organise/news/organisers", NOT_ORGANISED),
    "organise_people.remove": Form("/organise/news/organisers/{member}/remove", NOT_ORGANISED),
    "organise_people.let_in": Form("/organise/news/teams-let-in", NOT_ORGANISED),
    "organise_people.let_out": Form("/organise/news/teams-let-in/sekretwoods/remove", NOT_ORGANISED),
    "organise_people.founders": Form("/organise/founders", ONLY_ADMINS),
    "organise_evaluations.new": Form("/organise/news/evaluations/new", NOT_ORGANISED),
    "organise_evaluations.settings": Form("/organise/news/2026/settings", NOT_ORGANISED),
    "organise_evaluations.clone": Form("/organise/news/2026/clone", NOT_ORGANISED),
    "organise_evaluations.remove": Form("/organise/news/2026/remove", NOT_ORGANISED),
    "submissions.withdraw": Form("/submissions/{run}/withdraw", _refused(403, *INSIDE), NOT_ON_A_BOARD),
    "submissions.stand": Form("/submissions/{run}/stand", _refused(403, *INSIDE), NOT_ON_A_BOARD),
    "submissions.primary": Form("/submissions/{run}/primary", _refused(403, *INSIDE), NOT_ON_A_BOARD),
    "submissions.save_description": Form("/submissions/{run}/describe", _refused(403, *INSIDE), NOT_ON_A_BOARD),
    "organise_systems.show": Form("/organise/news/systems/{system}", NOT_ORGANISED),
    "organise_teams.rename": Form("/organise/news/teams/{team}", NOT_ORGANISED),
    "organise_teams.merge": Form("/organise/news/teams/{team}/merge?into={other_team}", NOT_ORGANISED),
    "systems.edit": Form(
        "/teams/sekretwoods/sekretalder/edit",
        _refused(403, *INSIDE),
        dict.fromkeys(TEAM_HIDDEN, _refused(404, *INSIDE)),
    ),
    "systems.remove": Form(
        "/teams/sekretwoods/sekretalder/remove",
        _refused(403, *INSIDE),
        dict.fromkeys(TEAM_HIDDEN, _refused(404, *INSIDE)),
    ),
    "organise_submissions.take_off": Form("/organise/news/2026/submissions/{run}/take-off", NOT_ORGANISED),
    "organise_submissions.restore": Form("/organise/news/2026/submissions/{run}/restore", NOT_ORGANISED),
    "organise_submissions.retry": Form("/organise/news/2026/submissions/{rejected}/retry", NOT_ORGANISED),
    "organise_submissions.rescore": Form("/organise/news/2026/submissions/rescore", NOT_ORGANISED),
    "organise_submissions.retry_failed": Form("/organise/news/2026/submissions/retry-failed", NOT_ORGANISED),
    # Without a team there is nobody to submit for. Who may submit for which team: test_submit.py.
    "submit.send": Form(
        "/campaigns/news/2026/submit",
        _refused(403, "member of another team", *TEAM),
        {"before opening": _refused(409)},
    ),
    **{
        f"organise_forms.{name}": Form(f"/organise/news/2026/form/{address}", NOT_ORGANISED)
        for name, address in (
            ("set_field", "field"),
            ("remove_field", "field/remove"),
            ("state_agreement", "agreement"),
            ("end_agreement", "agreement/end"),
            ("set_rules", "rules"),
            ("set_documents", "documents"),
            ("copy", "copy"),
        )
    },
    "organise_queries.preview": Form("/organise/news/2026/queries/preview", NOT_ORGANISED),
    "organise_queries.take_in": Form("/organise/news/2026/queries/import", NOT_ORGANISED),
    "organise_queries.change": Form("/organise/news/2026/queries/change", NOT_ORGANISED),
    "organise_judgments.rename": Form("/organise/news/2026/judgments/rename", NOT_ORGANISED),
    "organise_judgments.remove": Form("/organise/news/2026/judgments/remove", NOT_ORGANISED),
    "organise_judgments.preview": Form("/organise/news/2026/judgments/preview", NOT_ORGANISED),
    "organise_judgments.take_in": Form("/organise/news/2026/judgments/import", NOT_ORGANISED),
    "organise_judgments.official": Form("/organise/news/2026/judgments/official", NOT_ORGANISED),
    "submit.confirm": Form("/campaigns/news/2026/submit/999999", _refused(404)),
    "submit.discard": Form("/campaigns/news/2026/submit/999999/discard", _refused(404)),
    "submit.change": Form("/campaigns/news/2026/submit/999999/change", _refused(404)),
    "run_checks.check": Form("/campaigns/news/2026/check", LOG_IN_FIRST),
}


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
    "value of a query": Secret(r"0\.832\b|0\.8317", STAFF, dict.fromkeys(DETAILS_OPEN, EVERYONE)),
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
