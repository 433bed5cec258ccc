"""A run's file as a download."""

from flask import Response, send_file

from leaderboard.errors import Missing, NotFound
from leaderboard.web.context import store
from leaderboard.web.exports import file_name

LONGEST_STEM = 60  # characters of a received file's name that a fetched one keeps


def run_download(submission: int, sha256: str, filename: str) -> Response:
    """The bytes as received, only ever as a download: nothing that a team sends is shown by a browser from here."""
    try:
        with store().run_file(sha256) as path:
            file = path.open("rb")
    except NotFound:
        raise Missing(f"The stored file of submission {submission} is missing.") from None
    packed = file.peek(2)[:2] == b"\x1f\x8b"
    stem = file_name(filename).replace(".", "_").strip("-_")[:LONGEST_STEM]
    name = f"submission-{submission}-{stem}.txt{'.gz' if packed else ''}"
    answer: Response = send_file(file, mimetype="application/octet-stream", as_attachment=True, download_name=name)
    answer.headers["Cache-Control"] = "private, no-store"
    return answer
