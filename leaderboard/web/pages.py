"""Every page family of the site, and the navigation over them."""

from flask import Flask
from flask_login import current_user

from leaderboard.web import account, auth, health, measures, submissions, submit, teams

FAMILIES = (submit, submissions, teams, measures, auth, account, health)

FOR_ALL = (("measures.index", "Measures"),)
FOR_VISITORS = (("auth.log_in", "Log in"), ("auth.register", "Register"))
FOR_ACCOUNTS = (("account.show", "Account"),)


def init_app(app: Flask) -> None:
    for family in FAMILIES:
        app.register_blueprint(family.blueprint)

    def navigation() -> list[tuple[str, str]]:
        """(endpoint, text) of the links in the head of every page."""
        links = FOR_ALL + (FOR_ACCOUNTS if current_user.is_authenticated else FOR_VISITORS)
        return [(endpoint, text) for endpoint, text in links if endpoint in app.view_functions]

    app.jinja_env.globals["navigation"] = navigation
