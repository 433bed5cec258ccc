"""One year of two campaigns, played in an installation: everything that people do in it, and what they read meanwhile.

The steps are the same for every judgments. Whatever a team, a visitor or a stranger receives is kept, by when, who and
what was asked.
"""

import datetime as dt

import sqlalchemy as sa

from leaderboard.access import CONSOLE
from leaderboard.accounts import writes as credentials, writes as people
from leaderboard.accounts.rules import Scope
from leaderboard.campaigns import writes as campaigns
from leaderboard.evaluations import writes as evaluations
from leaderboard.evaluations.models import Evaluation
from leaderboard.evaluations.reads.evaluations import find_campaign
from leaderboard.evaluations.rules import Split
from leaderboard.formats import QueryRow
from leaderboard.judgments import writes as judgments, writes as queries
from leaderboard.judgments.rules import JudgmentFiles
from leaderboard.submissions.models import Submission
from leaderboard.submissions.rules import Designation
from leaderboard.teams import writes as teams
from leaderboard.teams.rules import Role
from tests.experiment.draws import Drawn, Grades, judgments_of, subtopics_of
from tests.experiment.installation import PASSWORD, Installation
from tests.experiment.plans import CAMPAIGNS, COLLECTION, EVALUATIONS, GRACED, HIDDEN, QUERIES, RUNS, TAGS, moment
from tests.experiment.walk import ORGANISER, Asked, walk

ALL = Asked()

# A visitor, an account without a team, the owner of another team, a member and the owner of the team that is followed.
PEOPLE = ("", "finn", "eve", "ben", "ada")
JUDGED_AGAIN = ("sealed", "shown", "best")
IMPORTS = len(EVALUATIONS) + len(JUDGED_AGAIN)  # of judgments in a year
TEAMS = {"Alder": {"ada": Role.OWNER, "ben": Role.MEMBER}, "Birch": {"eve": Role.OWNER}}


def play(here: Installation, drawn: Drawn, asked: Asked = ALL) -> None:
    """Plays the year under these judgments. asked: what is read in the walks."""
    here.at(moment(1, 5))
    set_up(here)
    here.at(moment(1, 15), "eve", "ada")
    for name in EVALUATIONS:
        judge(here, name, drawn[name][0])
    for name in ("finished", "kept", "complete"):
        send(here, "in time", "ada", name, "good", "Searcher", Designation.PRIMARY)
        send(here, "in time", "ada", name, "lacking", "Second", Designation.CONTRASTIVE)
        send(here, "in time", "eve", name, "other", "Finder", Designation.PRIMARY)
    here.drain()

    here.at(moment(3, 5), "", "eve", "ben", "ada", ORGANISER)
    for name in ("sealed", "graced", "shown", "best", "own"):
        send(here, "in time", "ada", name, "good", "Searcher", Designation.PRIMARY)
        send(here, "in time", "ben", name, "lacking", "Searcher", Designation.CONTRASTIVE)
        send(here, "in time", "eve", name, "other", "Finder", Designation.CONTRASTIVE)
    for name in ("sealed", "best"):
        send(here, "in time", "ada", name, "crowded", "Second", Designation.CONTRASTIVE)
        for run in ("too many", "broken", "strange"):
            send(here, "in time", "ada", name, run, "Broken", Designation.CONTRASTIVE)
    send(here, "too early", "ada", "upcoming", "good", "Searcher", Designation.PRIMARY)
    send(here, "too late", "ada", "kept", "lacking", "Searcher", Designation.PRIMARY)
    send(here, "late", "ada", "finished", "lacking", "Searcher", Designation.PRIMARY)
    waiting = asked.only("boards.board", "submissions.show", "submissions.progress")
    walk(here, "while runs wait", ("eve", "ada"), asked=waiting)
    here.drain()
    for name in ("sealed", "best"):  # they are asked about, in the walk that follows
        send(here, "waiting", "ada", name, "good", "Searcher", Designation.CONTRASTIVE, yes=False)
    walk(here, "once runs are scored", ("", "eve", "ada"), asked=asked)

    here.at(moment(4, 10), "eve", "ben", "ada", ORGANISER)
    for name in ("sealed", "best", "own"):
        first, second, others = runs_of(here, name)[:3]
        act(here, "ada", f"/submissions/{first}/withdraw", because="a mistake of ours")
        act(here, "ben", f"/submissions/{second}/stand")
        act(here, "ada", f"/submissions/{others}/withdraw")
    for name in JUDGED_AGAIN:
        judge(here, name, drawn[name][1])
    here.drain(steps=3)
    walk(here, "while runs are scored anew", ("eve", "ada"), asked=waiting)
    here.drain()

    here.at(GRACED + dt.timedelta(seconds=30), *PEOPLE, ORGANISER)
    send(here, "in the grace", "ada", "graced", "other", "Searcher", Designation.PRIMARY)
    here.drain()
    walk(here, "in the grace", ("", "finn", "eve", "ben"), asked=asked)
    act(here, "ada", "/teams/alder/invitations")
    act(here, "finn", "/join/no-such-token")
    here.at(GRACED + dt.timedelta(seconds=31), "finn")  # a session in which no walk has left anything
    act(here, "finn", "/account/tokens/1/revoke")
    act(here, "finn", "/account/sessions/end")
    act(here, "ben", "/logout")
    here.to_organiser = [
        here.people[ORGANISER].get(f"/campaigns/{plan.campaign}/{name}.csv") for name, plan in EVALUATIONS.items()
    ]


def play_shortly(here: Installation, drawn: Drawn, asked: Asked) -> None:
    """Plays a few steps of such a year, and one walk: enough for what leaks judgments whatever has happened."""
    here.at(moment(1, 5))
    set_up(here)
    for name in EVALUATIONS:
        judge(here, name, drawn[name][0])
    here.at(moment(1, 15), "eve", "ada")
    for name in ("sealed", "kept", "complete"):
        send(here, "in time", "ada", name, "good", "Searcher", Designation.PRIMARY)
        send(here, "in time", "eve", name, "other", "Finder", Designation.PRIMARY)
    here.drain()
    here.at(moment(3, 5), "", "eve", "ada", ORGANISER)
    walk(here, "once runs are scored", ("", "eve", "ada"), asked=asked)
    act(here, "ada", f"/submissions/{runs_of(here, 'sealed')[0]}/withdraw", because="a mistake of ours")


def set_up(here: Installation) -> None:
    """Accounts, teams, campaigns, evaluations and their queries, as organisers make them."""
    here.begin("the set-up")
    accounts = {name: people.new_account(name, PASSWORD) for name in (*PEOPLE[1:], ORGANISER)}
    with here.database.write() as session:
        users = {name: people.create_user(session, CONSOLE, accounts[name]) for name in accounts}
        for name, user in users.items():
            here.api_tokens[name] = credentials.make_token(
                session, CONSOLE, user, "a program", Scope, days=None, now=moment(1, 5)
            )
        for team, members in TEAMS.items():
            made = teams.create_team(session, CONSOLE, team)
            for name, role in members.items():
                teams.add_member(session, CONSOLE, made, users[name], role)
        for slug, settings in CAMPAIGNS.items():
            campaign = campaigns.create_campaign(session, CONSOLE, slug, f"The {slug}", **settings)
            campaigns.add_organiser(session, CONSOLE, campaign, users[ORGANISER])
        for slug, plan in EVALUATIONS.items():
            evaluation = evaluations.create_evaluation(
                session,
                CONSOLE,
                find_campaign(session, CONSOLE, plan.campaign),
                slug,
                f"The {slug} one",
                "2024",
                condition=slug,
                **{"documents": COLLECTION, "daily_quota": 30, **plan.settings},
            )
            for split, texts in ((Split.SHOWN, QUERIES), (Split.HIDDEN, HIDDEN if plan.hidden else {})):
                rows = [QueryRow(name, text, tuple(TAGS[name])) for name, text in texts.items()]
                queries.import_queries(session, CONSOLE, evaluation, rows, split)


def judge(here: Installation, name: str, grades: Grades) -> None:
    """Imports a revision of an evaluation's judgments."""
    here.begin(f"judgments of {name}")
    with here.database.write() as session:
        evaluation = session.scalars(sa.select(Evaluation).where(Evaluation.slug == name)).one()
        judgments.import_judgments(
            session,
            CONSOLE,
            evaluation,
            JudgmentFiles(judgments_of(grades), subtopics=subtopics_of(grades) if grades else None),
        )


def send(
    here: Installation,
    when: str,
    name: str,
    evaluation: str,
    run: str,
    system: str,
    designation: Designation,
    *,
    yes: bool = True,
) -> None:
    """Checks a run, submits it by the form, and says yes where that is asked, unless it is only to be asked about."""
    team = "Birch" if name == "eve" else "Alder"
    address = f"/campaigns/{EVALUATIONS[evaluation].campaign}/{evaluation}/submit"
    fields = {"designation": designation.value, "notes": "", **here.system_field(team, system)}
    filename = f"{run.replace(' ', '-')}.run"
    text = RUNS[run].text_for(HIDDEN if EVALUATIONS[evaluation].hidden else ())
    checked = address.replace("/submit", "/check")
    here.steps[when, name, "POST", f"{checked} ({run})"] = here.people[name].post(checked, text, filename)
    answer = here.people[name].post(address, text, filename, **fields)
    here.steps[when, name, "POST", f"{address} ({run})"] = answer
    if yes and answer.status == 200:  # something about the run has to be confirmed
        answer = here.people[name].post(address, text, filename, **fields, confirm="yes")
        here.steps[when, name, "POST", f"{address} ({run}, confirmed)"] = answer


def act(here: Installation, name: str, address: str, **fields: str) -> None:
    """Sends a form without a file."""
    here.steps["a step", name, "POST", address] = here.people[name].post(address, **fields)


def runs_of(here: Installation, evaluation: str) -> list[int]:
    """The ids of an evaluation's runs, the first one first."""
    with here.database.read() as session:
        return list(
            session.scalars(
                sa.select(Submission.id)
                .join(Evaluation, Evaluation.id == Submission.evaluation_id)
                .where(Evaluation.slug == evaluation)
                .order_by(Submission.id)
            )
        )
