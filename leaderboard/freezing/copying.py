"""The pages of an evaluation as a visitor gets them, and every file that they offer, written into a folder.

What describes the folder, and the hashes of all files.
"""

import hashlib
import json
import mimetypes
from collections import deque
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from flask import Flask
from werkzeug.exceptions import HTTPException
from werkzeug.http import parse_options_header

from leaderboard.errors import Unavailable
from leaderboard.freezing.reads import Copy
from leaderboard.freezing.rules import DATA, LINK, README, SUMS, address_of, file_of, linked_to_files
from leaderboard.web.page_cache import STATIC

# An address has at most one of these arguments: all their combinations would be more pages than anybody reads.
VIEWS = frozenset({"measure", "tag", "show", "intervals", "answer"})
HELP = frozenset({"measures.index", "measures.show", "documents.document"})
LEFT_OUT = frozenset({
    "results.compare_runs", "results.compare_runs_file", "results.ranked_list_file", "results.old_board_values",
})  # fmt: skip
CRATE = "ro-crate-metadata.json"
WRITTEN = (README, "CITATION.cff", "datacite.json")  # before it; the foot of every page leads to all that describes


def copy_pages(app: Flask, copy: Copy, base_url: str, folder: Path, tell: Callable[[int], None]) -> None:
    """Writes the evaluation's pages and files into the folder, beside the runs that are there.

    tell  is called with 1 for each. Raises Unavailable where the site does not answer an address.
    """
    start = f"/campaigns/{copy.campaign}/{copy.evaluation}"
    files = {f"/submissions/{number}/file": f"{DATA}/{name}" for number, (_, name) in copy.files.items()}
    files.update((f"/{name}", name) for name in (*WRITTEN, CRATE, SUMS))
    client, pages, asked, waiting = app.test_client(), list[str](), {*files, start}, deque([start])
    taken = {name.lower() for name in files.values()}
    while waiting:
        address = waiting.popleft()
        answer = client.get(address, base_url=base_url)
        if answer.status_code >= 500:
            raise Unavailable(f"{address} is answered with an error, {answer.status}")
        if answer.status_code != 200:
            continue
        kind, options = parse_options_header(answer.headers.get("Content-Disposition"))
        # Tables lie together under their own names, as the receipts' commands ask for them.
        is_table = kind == "attachment" and "/charts/" not in address
        wanted = f"{start}/{DATA}/{options['filename']}" if is_table else address
        is_page = answer.mimetype == "text/html"
        files[address] = name = file_of(wanted, start, is_page, taken)
        taken.add(name.lower())
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(answer.data)
        tell(1)
        if is_page:
            pages.append(address)
            linked = {target for link in LINK.findall(answer.text) if (target := address_of(link, address))}
            new = sorted(target for target in linked - asked if _is_part(app, copy, target, address))
            asked.update(new)
            waiting += new
    for address in pages:
        file = folder / files[address]
        file.write_text(linked_to_files(file.read_text("utf-8"), address, files), "utf-8")


def _is_part(app: Flask, copy: Copy, address: str, page: str) -> bool:
    """Whether what a page links to is part of the copy."""
    parts = urlsplit(address)
    arguments = {key for key, _ in parse_qsl(parts.query)} - {"page"}
    try:
        endpoint, values = app.url_map.bind("").match(parts.path, "GET")
    except HTTPException:
        return False
    number, own = values.get("submission"), (values.get("campaign"), values.get("evaluation"))
    if endpoint in STATIC or endpoint == "site.logo":
        return True
    if endpoint in HELP:  # documents that only documents name are no part
        return not (arguments or page.startswith("/docs/"))
    if endpoint in LEFT_OUT:
        return False
    if number is not None:
        is_list = endpoint == "results.ranked_list"
        return not arguments and (copy.has_lists and number in copy.files if is_list else number in copy.runs)
    if own != (copy.campaign, copy.evaluation):
        return False
    if endpoint == "results.board_values":
        return arguments == {"measure"}
    is_view = len(arguments) == 1 and arguments <= VIEWS and not {"query", "ending"} & values.keys()
    return is_view or not arguments


def describe(app: Flask, copy: Copy, license_id: str, folder: Path) -> str:
    """Writes what describes the folder and the hashes of its files; the hash of these. license_id: of SPDX, or \"\""""
    app.jinja_env.filters["json"] = partial(json.dumps, ensure_ascii=False)
    files = dict[str, dict[str, Any]]()

    def write(name: str) -> None:
        with app.test_request_context():
            text = app.jinja_env.get_template(f"freezing/{name}").render(copy=copy, license=license_id, files=files)
        (folder / name).write_text(f"{text}\n", "utf-8")

    for name in WRITTEN:
        write(name)
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        media_type, packed = mimetypes.guess_type(path)
        media_type = f"application/{packed}" if packed else media_type or "text/plain"
        facts = {"media_type": media_type, "size": path.stat().st_size, "sha256": sha256_of(path)}
        files[path.relative_to(folder).as_posix()] = facts
    write(CRATE)
    files[CRATE] = {"sha256": sha256_of(folder / CRATE)}
    lines = (f"{facts['sha256']}  {name}\n" for name, facts in sorted(files.items()))
    (folder / SUMS).write_text("".join(lines), "utf-8")
    return sha256_of(folder / SUMS)


def sha256_of(path: Path) -> str:
    """Of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
