"""nginx in front of a site, as deploy/nginx.conf has it."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from scripts.programs import nginx
from tests.support.mail import certificate_for
from tests.support.processes import Process, free_port
from tests.support.shared import REPOSITORY
from tests.support.waiting import wait_until

START_SECONDS = 20.0
CONFIGURATION = REPOSITORY / "deploy" / "nginx.conf"
# Around the file, as a distribution's own nginx.conf is; here nothing is written elsewhere.
AROUND = """
daemon off;
pid nginx.pid;
error_log stderr;
{user}
events {{}}
http {{
    access_log off;
    client_body_temp_path body;
    proxy_temp_path proxied;
    fastcgi_temp_path unused;
    uwsgi_temp_path unused;
    scgi_temp_path unused;
    include site.conf;
}}
"""


@dataclass(frozen=True)
class Proxy:
    """url: of the site by TLS; plain: by HTTP; certificate: whoever trusts it trusts the proxy."""

    url: str
    plain: str
    certificate: Path


@contextmanager
def nginx_before(site: str, folder: Path, text: str | None = None) -> Iterator[Proxy]:
    """Runs deploy/nginx.conf, or another text, with names, ports and files of the test's own.

    site  the address that it passes requests to
    """
    program = nginx()
    assert program is not None, "no nginx: run `make test`, or `python -m scripts.programs` to install it"
    certificate, tls, plain = certificate_for(folder), free_port(), free_port()
    text = CONFIGURATION.read_text() if text is None else text
    for mine, own in {
        "listen 443": f"listen 127.0.0.1:{tls}",
        "listen 80;": f"listen 127.0.0.1:{plain};",
        "/etc/letsencrypt/live/leaderboard.example.org/fullchain.pem": str(certificate),
        "/etc/letsencrypt/live/leaderboard.example.org/privkey.pem": str(certificate),
        "leaderboard.example.org": "127.0.0.1",
        "http://127.0.0.1:8000": site,
    }.items():
        assert mine in text, f"{CONFIGURATION.name} has no {mine!r}"
        text = text.replace(mine, own)
    (folder / "site.conf").write_text(text)
    # nginx of root's would work as nobody, who can't look into a test's folder.
    (folder / "nginx.conf").write_text(AROUND.format(user="user root;" if os.geteuid() == 0 else ""))
    command: list[str | Path] = [program, "-p", folder, "-c", "nginx.conf", "-e", "stderr"]
    with Process(command, cwd=folder):
        wait_until(lambda: _is_open(tls) and _is_open(plain), "nginx is up", START_SECONDS)
        yield Proxy(f"https://127.0.0.1:{tls}", f"http://127.0.0.1:{plain}", certificate)


def _is_open(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0
