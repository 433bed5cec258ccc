"""What organisers do on their pages, programs do through the API: each page has a twin, or a reason for none."""

from collections.abc import Mapping

from flask import Flask

from leaderboard.accounts.rules import Scope
from leaderboard.web.endpoints import ENDPOINTS

# Page -> the operations that do for programs what it shows and does.
TWINS: Mapping[str, tuple[str, ...]] = {
    "organise.index": ("list_organised",),
    "organise.campaign": ("organised_evaluations",),
    "organise.evaluation": ("evaluation_readiness", "change_evaluation"),
    "organise_campaigns.new": ("make_campaign",),
    "organise_campaigns.settings": ("organised_campaign", "change_campaign"),
    "organise_campaigns.archive": ("archive_campaign", "unarchive_campaign"),
    "organise_campaigns.remove": ("remove_campaign",),
    "organise_evaluations.new": ("make_evaluation",),
    "organise_evaluations.settings": ("organised_evaluation", "change_evaluation"),
    "organise_evaluations.clone": ("clone_evaluation",),
    "organise_evaluations.remove": ("remove_evaluation",),
    "organise_forms.index": ("submission_form",),
    "organise_forms.set_field": ("set_form_field",),
    "organise_forms.remove_field": ("remove_form_field",),
    "organise_forms.state_agreement": ("state_agreement",),
    "organise_forms.end_agreement": ("end_agreement",),
    "organise_forms.set_rules": ("set_file_rules",),
    "organise_forms.set_documents": ("set_document_list", "remove_document_list"),
    "organise_forms.copy": ("copy_form",),
    "organise_queries.index": ("organised_queries",),
    "organise_queries.preview": ("preview_queries",),
    "organise_queries.take_in": ("add_queries",),
    "organise_queries.change": ("exclude_queries", "include_queries", "hide_queries", "show_queries", "remove_queries"),
    "organise_judgments.index": ("organised_judgments",),
    "organise_judgments.rename": ("rename_source",),
    "organise_judgments.remove": ("remove_source",),
    "organise_judgments.preview": ("preview_judgments",),
    "organise_judgments.take_in": ("add_judgments",),
    "organise_judgments.official": ("make_source_official",),
    "organise_submissions.of_campaign": ("list_submissions",),
    "organise_submissions.of_evaluation": ("list_submissions",),
    "organise_submissions.show": ("organised_submission",),
    "organise_submissions.fetch": ("fetch_run",),
    "organise_submissions.take_off": ("take_run_off",),
    "organise_submissions.restore": ("restore_run",),
    "organise_submissions.retry": ("retry_run",),
    "organise_submissions.rescore": ("rescore_runs",),
    "organise_submissions.retry_failed": ("retry_failed_runs",),
    "organise_people.show": ("list_organisers",),
    "organise_people.add": ("add_organiser",),
    "organise_people.remove_organiser": ("remove_organiser",),
    "organise_people.let_in": ("let_team_in",),
    "organise_people.let_out": ("let_team_out",),
    "organise_systems.index": ("list_systems",),
    "organise_systems.show": ("organised_system", "change_organised_system"),
    "organise_teams.index": ("list_teams",),
    "organise_teams.show": ("list_teams",),
    "organise_teams.rename": ("rename_team",),
    "organise_teams.ask_merge": ("preview_merge",),
    "organise_teams.merge": ("merge_team",),
    "organise_trail.index": ("trail",),
    "organise_import.preview_into": ("preview_import_into", "draft_import_into"),
    "organise_import.complete_into": ("preview_import_into",),
    "organise_import.take_in_into": ("import_into",),
    "organise_import.preview_whole": ("preview_import", "draft_import"),
    "organise_import.complete_whole": ("preview_import",),
    "organise_import.take_in_whole": ("import_campaign",),
    "organise_import.export": ("export_campaign",),
}
# What organisers and admins do with a team of any campaign, as commands do.
OF_ANY_TEAM = ("list_all_teams", "add_member")
# Page -> why there is none.
WITHOUT: Mapping[str, str] = {
    "organise_import.into": "a form to choose a file",
    "organise_import.whole": "a form to choose a file",
    "organise_submissions.baseline": "submit_run, then change_organised_system: as with any run and system",
    "organise_submissions.add_baseline": "the same",
    "organise_people.site": "an admin sets it once, by looking at it",
}


def test_every_page_of_organisers_has_an_operation_of_the_api_or_a_reason_for_none(app: Flask) -> None:
    pages = {rule.endpoint.removesuffix("_file") for rule in app.url_map.iter_rules()}  # tables are answers in JSON
    pages = {page for page in pages if page.partition(".")[0].startswith("organise")}
    assert pages == TWINS.keys() | WITHOUT.keys()
    assert not TWINS.keys() & WITHOUT.keys()
    named = {operation for operations in TWINS.values() for operation in operations}
    named |= {"list_organised_evaluations", *OF_ANY_TEAM}
    assert named == {endpoint.name for endpoint in ENDPOINTS if endpoint.scope is Scope.ORGANISE}
