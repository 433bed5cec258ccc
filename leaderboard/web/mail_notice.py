"""What is said of a mail that a page has asked for: that it is on its way, or with whom it waits."""

from leaderboard.web.context import config


def on_its_way(link: str, to: str) -> str:
    """`A link is on its way to ada@example.org.`; without a mail server whoever runs the site hands it over.

    link, to: in words, the first one as a sentence begins
    """
    if config().mail_server is not None:
        return f"{link} is on its way to {to}."
    return f"{link} to {to} waits: no mail server is set up here. Ask whoever runs this site for it."
