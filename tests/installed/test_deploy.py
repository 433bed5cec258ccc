"""What `deploy/` holds, as far as it can be tried without a container engine and without systemd: nginx is run, the
steps of the Containerfile are taken, the rest is checked for syntax and for the names of settings and commands."""

import os
import re
import shutil
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection, HTTPSConnection
from pathlib import Path
from urllib.parse import urlsplit

import click
import pytest
import yaml

from leaderboard.cli import leaderboard
from leaderboard.config import Config
from leaderboard.submissions.writes.run_store import bind
from tests.support.databases import Postgres
from tests.support.installed import environment_of_a_stranger, prepare, ran
from tests.support.proxy import CONFIGURATION, Proxy, nginx_before
from tests.support.shared import REPOSITORY
from tests.support.site import Installation, running_site
from tests.support.world import World, run_file, run_text

DEPLOY = REPOSITORY / "deploy"
SETTINGS = {name for name, _ in Config.described()}
HERE = "/var/lib/leaderboard"
LARGE = 1_500_000  # bytes: more than nginx takes unless it is told
PASSWORD = "keep this harbour"  # it opens nothing


@pytest.fixture(scope="module")
def site(
    postgres: Postgres, migrated_postgres: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Installation]:
    """A site with an evaluation, behind one proxy: cookies go over TLS only."""
    folder: Path = tmp_path_factory.mktemp("site")
    url = postgres.create(migrated_postgres)
    with running_site(url, folder, processes=1, trusted_proxies="1", secure_cookies="yes") as site:
        (folder / "queries.tsv").write_text("q1\tships in the harbour\n")
        (folder / "qrels").write_text("q1 0 d1 1\n")
        site.command("campaign", "add", "news", "--title", "News", "--measures", "AP", "--visibility", "public")
        site.command("evaluation", "add", "news/2026", "--title", "2026", "--period", "2026", "--public")
        site.command("queries", "import", "news/2026", folder / "queries.tsv")
        site.command("judgments", "import", "news/2026", folder / "qrels")
        site.command("user", "add", "ada", "--admin", "--password-stdin", text=PASSWORD)
        site.command("team", "add", "Alder")
        site.command("team", "member", "add", "alder", "ada")
        yield site
    postgres.drop(url)


@pytest.fixture
def proxy(site: Installation, tmp_path: Path) -> Iterator[Proxy]:
    with nginx_before(site.url, tmp_path) as proxy:
        yield proxy


def _submit(site: Installation, proxy: Proxy, folder: Path) -> subprocess.CompletedProcess[str]:
    """Submits a run of more than a megabyte, which does not compress, through the proxy."""
    run = folder / "large.run"
    lines = [f"q1 Q0 d{number} {number} {1_000_000 - number} {os.urandom(20).hex()}\n" for number in range(20_000)]
    run.write_text("".join([f"# {line}" for line in lines] + ["q1 Q0 d1 1 1.0 tag\n"]))
    assert run.stat().st_size > LARGE - 500_000
    token = site.command("user", "token", "ada", "--for", "a test", "--scope", "submit").strip()
    environment = {**os.environ, "SSL_CERT_FILE": str(proxy.certificate), "LEADERBOARD_TOKEN": token}
    sent = ["submit", "news/2026", run, "--team", "alder", "--new-system", "Owl", "--confirm", "--server", proxy.url]
    return subprocess.run(
        [sys.executable, "-m", "leaderboard", *sent], env=environment, capture_output=True, text=True
    )  # fmt: skip


def test_the_nginx_example_passes_a_run_on_that_is_larger_than_a_megabyte(
    site: Installation, proxy: Proxy, tmp_path: Path
) -> None:
    done = _submit(site, proxy, tmp_path)
    assert done.returncode == 0, done
    assert "AP" in done.stdout


def test_without_its_bound_nginx_refuses_such_a_run(site: Installation, tmp_path: Path) -> None:
    """As it did with the one line that was documented."""
    text = re.sub(r"client_max_body_size.*\n", "\n", CONFIGURATION.read_text())
    with nginx_before(site.url, tmp_path, text) as proxy:
        done = _submit(site, proxy, tmp_path)
    assert done.returncode == 2
    assert "413" in done.stderr


def _asked(proxy: Proxy, method: str, path: str, headers: dict[str, str], body: bytes = b"") -> tuple[int, str, str]:
    """The status, the cookie that is set and the text of the answer."""
    context = ssl.create_default_context(cafile=proxy.certificate)
    with closing(HTTPSConnection(urlsplit(proxy.url).netloc, context=context, timeout=20)) as connection:
        connection.putrequest(method, path)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        if body:
            connection.send(body)
        with connection.getresponse() as answer:
            return answer.status, answer.headers["Set-Cookie"] or "", answer.read().decode()


def test_uploads_are_not_held_by_nginx_and_too_large_ones_refused(proxy: Proxy) -> None:
    path = "/api/v1/campaigns/news/evaluations/2026/submissions"
    headers = {"Content-Type": "multipart/form-data; boundary=cut", "Authorization": "Bearer nothing"}
    # The site answers to a hundred bytes of an upload of which the rest never comes.
    assert _asked(proxy, "POST", path, headers | {"Content-Length": "2000000"}, b"-" * 100)[0] == 401
    assert _asked(proxy, "POST", path, headers | {"Content-Length": str(600 * 2**20)})[0] == 413


def test_the_site_knows_that_it_is_reached_by_tls_and_believes_no_header_of_a_client(proxy: Proxy) -> None:
    forged = {"X-Forwarded-Proto": "http", "X-Forwarded-Host": "evil.example"}
    status, cookie, page = _asked(proxy, "GET", "/login", forged)
    assert status == 200
    assert "evil.example" not in page
    assert "Secure" in cookie
    assert _asked(proxy, "GET", "/metrics", {})[0] == 404
    with closing(HTTPConnection(urlsplit(proxy.plain).netloc, timeout=20)) as plain:
        plain.request("GET", "/login?next=/")
        with plain.getresponse() as redirect:
            assert (redirect.status, redirect.headers["Location"]) == (301, "https://127.0.0.1/login?next=/")


def test_caddys_example_says_what_nginxs_does() -> None:
    text = re.sub(r"#.*", "", (DEPLOY / "Caddyfile").read_text())
    assert text.count("{") == text.count("}")
    assert "reverse_proxy 127.0.0.1:8000" in text
    [bound] = re.findall(r"max_size (\d+)MiB", text)
    [own] = re.findall(r"client_max_body_size (\d+)m;", CONFIGURATION.read_text())
    assert bound == own
    assert int(own) * 2**20 > Config().upload_bytes


def _parses(words: list[str]) -> None:
    """The words of a command behind `leaderboard`."""
    command: click.Command = leaderboard
    context = click.Context(leaderboard)
    while isinstance(command, click.Group):
        found = command.get_command(context, words[0])
        assert found is not None, words
        command, words = found, words[1:]
    command.make_context("leaderboard", list(words))


UNITS = sorted((DEPLOY / "systemd").iterdir())


@pytest.mark.parametrize("unit", [unit for unit in UNITS if unit.suffix == ".service"], ids=lambda unit: unit.name)
def test_a_service_starts_a_command_as_its_own_user_and_may_do_little(unit: Path) -> None:
    lines = [line.partition("=")[::2] for line in unit.read_text().splitlines() if "=" in line]
    settings = dict(lines)
    assert settings["User"] == "leaderboard"
    assert settings["EnvironmentFile"] == f"{HERE}/leaderboard.env"
    assert (settings["NoNewPrivileges"], settings["ProtectSystem"]) == ("yes", "strict")
    # A worker that was asked to drain ends with status 0, and is not to begin anew before the upgrade.
    restart = {"serve": "always", "worker": "on-failure"}
    assert settings.get("Restart") == restart.get(settings["ExecStart"].rpartition(" ")[2])
    for name, command in lines:
        if name == "ExecStart" and "leaderboard " in command:
            plain = re.sub(r"\$\$\([^)]*\)| --since [^ ;]+", "", command)  # the names that a shell gives
            for words in re.findall(r"venv/bin/leaderboard ([^;&']+)", plain):
                _parses(words.split())


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_systemd_finds_no_fault_with_a_unit(unit: Path, tmp_path: Path) -> None:
    """Where it is installed. The program that it starts stands elsewhere in a test."""
    analyse = shutil.which("systemd-analyze")
    for each in UNITS:
        (tmp_path / each.name).write_text(each.read_text().replace(f"{HERE}/venv/bin/leaderboard", "/bin/true"))
    if analyse:
        done = subprocess.run([analyse, "verify", tmp_path / unit.name], capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")


def test_the_compose_file_names_services_volumes_settings_and_commands_that_there_are() -> None:
    document = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    services = document["services"]
    assert set(services) == {"database", "store", "upgrade", "site", "worker"}
    for name, service in services.items():
        environment = set(service["environment"])
        assert {key for key in environment if key.startswith("LEADERBOARD_")} <= SETTINGS
        assert set(service.get("depends_on", {})) <= set(services)
        for volume in service.get("volumes", ()):
            assert volume.startswith("/") or volume.partition(":")[0] in document["volumes"]
        if name in {"upgrade", "site", "worker"}:
            assert (REPOSITORY / service["build"]["dockerfile"]).exists()
            assert service["read_only"]
            _parses(service.get("command", ["serve", "--host", "0.0.0.0"]))
        else:
            assert re.search(r":v?\d", service["image"]), "an image has its version"
    values = [str(value) for service in services.values() for value in service["environment"].values()]
    secrets = {word for value in values for word in re.findall(r"\$\{(\w+):\?", value)}
    assert secrets == {"DATABASE_PASSWORD", "SECRET_KEY", "STORE_KEY_ID", "STORE_SECRET"}


@pytest.mark.parametrize("engine_name", ["sqlite"])
def test_the_nightly_unit_runs_again_at_any_moment_and_verifies_whatever_became_of_the_backup(
    world: World, tmp_path: Path
) -> None:
    [command] = re.findall(
        r"^ExecStart=/bin/sh -c '(.*)'$", (DEPLOY / "systemd" / "leaderboard-nightly.service").read_text(), re.MULTILINE
    )
    (tmp_path / "venv" / "bin").mkdir(parents=True)
    program = tmp_path / "venv" / "bin" / "leaderboard"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m leaderboard "$@"\n')
    program.chmod(0o755)
    backups = tmp_path / "backups"
    backups.mkdir()
    settings = {
        "LEADERBOARD_DATABASE_URL": world.config.database_url,
        "LEADERBOARD_STORE_URL": world.store.url,
        "PYTHONPATH": str(REPOSITORY),
    }

    def night() -> tuple[int, str, list[str]]:
        """The exit status, what it says, the new files."""
        before = {*backups.iterdir()}
        done = subprocess.run(
            ["/bin/sh", "-c", command.replace("$$", "$").replace("%%", "%")],
            cwd=tmp_path, env=os.environ | settings, capture_output=True, text=True,
        )  # fmt: skip
        return done.returncode, done.stdout + done.stderr, [path.name for path in {*backups.iterdir()} - before]

    for name in ("2020-01-01-033000-full.zip", "all.zip"):  # of another month, and of somebody's own
        (backups / name).touch()
    bind(world.database, world.store)
    run = world.submit(run_text(1))
    world.drain()
    status, said, [full] = night()
    assert (status, "bytes, 1 run file\n" in said, "nothing differs" in said) == (0, True, True), said
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-\d{6}-full\.zip", full)
    for number in (2, 3):
        world.submit(run_text(number))
    lost = run_file(world.store, world.scoring(run).submission.sha256)
    content = lost.read_bytes()
    lost.unlink()
    status, said, [new] = night()
    assert (status, "2 run files, 1 left to earlier backups" in said, "1 thing differs" in said) == (1, True, True), (
        said
    )
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-\d{6}\.zip", new)
    lost.write_bytes(content)
    (backups / full).write_bytes(b"damaged")
    status, said, files = night()
    assert (status, "is no backup" in said, "nothing differs" in said, files) == (2, True, True, []), said


NOT_HERE = ("apt-get", "useradd")  # steps of the Containerfile that need an image of their own


def test_the_steps_of_the_containerfile_make_an_environment_with_the_site(wheel: Path, tmp_path: Path) -> None:
    """The same commands, with folders of the test's for those of the image, and packages that are here already. The
    wheel is the one that `wheel` has made by the image's command."""
    text = (DEPLOY / "Containerfile").read_text()
    assert "\nUSER leaderboard\n" in text
    assert "urlopen('http://127.0.0.1:8000/healthz'" in text
    steps = [line.removeprefix("RUN ") for line in text.splitlines() if line.startswith("RUN ")]
    steps.remove("/venv/bin/pip wheel --no-deps --wheel-dir /wheels /source")
    prepare(wheel, tmp_path / "venv", ["site"])
    (tmp_path / "wheels").symlink_to(wheel.parent)
    for step in steps:
        if not step.startswith(NOT_HERE):
            here = re.sub(r"(?<![\w./])/(venv|wheels)\b", rf"{tmp_path}/\1", step.replace("/source", str(REPOSITORY)))
            subprocess.run(["sh", "-ec", here], cwd=tmp_path, env=environment_of_a_stranger(), check=True)
    program = tmp_path / "venv" / "bin" / "leaderboard"
    [command] = re.findall(r"^CMD (\[.*\])$", text, re.MULTILINE)
    _parses(yaml.safe_load(command))
    assert "Serve the site" in ran(program, "serve", "--help", cwd=tmp_path)
