"""`leaderboard serve`: the site under gunicorn."""

import ipaddress
import logging
import os
import resource
import shutil
import socket
import sys
import tempfile
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from typing import Any

import click
from gunicorn.app.base import BaseApplication  # type: ignore[import-untyped]  # gunicorn has no types

from leaderboard.cli.database import up_to_date
from leaderboard.cli.options import PORT, UNTIL_STDIN_CLOSES, address_of, flag, listen, option, whole
from leaderboard.config import METRICS_FOLDER, Config
from leaderboard.errors import BadInput, LeaderboardError
from leaderboard.operating import logs
from leaderboard.store import RunStore
from leaderboard.submissions.writes.run_store import bind
from leaderboard.web.app import create_app
from leaderboard.web.server import Log, Notices, Worker, close_after_upload, gate

THREADS = 400  # of one process, most of which wait for slow clients
log = logging.getLogger("leaderboard.serve")
MEMORY = "/dev/shm"  # noqa: S108  # Linux's file system in memory; a folder of our own is made there


class _Site(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """The site of one installation. Its processes make the app after the fork, each for itself."""

    def __init__(self, config: Config, setting_up: bool, requests_at_once: int, **settings: Any) -> None:
        self._config, self._setting_up, self._requests_at_once = config, setting_up, requests_at_once
        self._settings = settings
        super().__init__()

    def load_config(self) -> None:
        for name, value in self._settings.items():
            self.cfg.set(name, value)

    def load(self) -> Any:
        app = create_app(self._config, setting_up=self._setting_up)
        notices = Notices(app.extensions["database"]) if self._config.database_url.startswith("postgresql") else None
        return gate(app, self._config, self._requests_at_once, notices)


def _require_store(config: Config, refused: Connection) -> None:
    try:
        with up_to_date(config) as database:
            bind(database, RunStore(config.store_url, config, must_exist=True))
    except LeaderboardError as error:
        refused.send(error)


@click.command()
@option("--host", "The address to listen on; 0.0.0.0 is every one.", default="127.0.0.1")
@PORT
@option("--workers", "Processes.", whole(1, 128), default=2)
@option("--threads", "Requests at once in each, uploads aside.", whole(1, 1000), default=4)
@option("--fd", "Listen on this open socket instead, as a supervisor hands it over.", whole(0))
@flag("--setting-up", "Say that the demonstration is being set up, until all is scored.")
@UNTIL_STDIN_CLOSES
def serve(host: str, port: int, workers: int, threads: int, fd: int | None, setting_up: bool) -> None:
    """Serve the site. SIGTERM lets requests end first.

    \b
    LEADERBOARD_SECRET_KEY=… LEADERBOARD_HOSTS=leaderboard.example.org leaderboard serve --host 0.0.0.0
    """
    config = Config.from_environment()
    logs.set_up(config)
    # A process that has asked a bucket can't be forked. This one ends by itself, also where a signal has ended ours.
    refusal, refused = Pipe(duplex=False)
    apart = get_context("fork").Process(target=_require_store, args=(config, refused))
    apart.start()
    apart.join()
    if refusal.poll():
        raise refusal.recv()
    if apart.exitcode:
        sys.exit(apart.exitcode)  # it has said why
    create_app(config)  # a wrong setting is reported here, once, and not by every process
    listener = listen(host, port) if fd is None else socket.socket(fileno=fd)
    if config.hosts == Config().hosts and not ipaddress.ip_address(listener.getsockname()[0]).is_loopback:
        listener.close()
        raise BadInput(f"the site answers to {config.hosts} only: set LEADERBOARD_HOSTS to what others know it by")
    say = log.info if config.log == "json" else click.echo  # each line is JSON then
    say(f"the site listens at {address_of(listener)}")
    if config.metrics_token:
        # Files that are mapped into memory: on a full disk the next request would kill its process.
        memory = MEMORY if os.access(MEMORY, os.W_OK) else None
        os.environ[METRICS_FOLDER] = tempfile.mkdtemp(prefix="leaderboard-metrics-", dir=memory)
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a connection and an upload are a file each
    umask = os.umask(0o077)
    os.umask(umask)
    _Site(
        config,
        setting_up,
        threads,
        bind=f"fd://{listener.detach()}",
        worker_class=Worker,
        pre_request=close_after_upload,
        workers=workers,
        threads=THREADS,
        worker_connections=1000,  # of one process
        keepalive=5,  # seconds between two requests of a connection, and before its first one
        umask=umask,  # this process's own: gunicorn would set another
        # gunicorn would believe headers of a peer on this machine; what proxies say is the site's own setting.
        forwarded_allow_ips="",
        secure_scheme_headers={},
        forwarder_headers="",
        # gunicorn's own remote control: a socket below the home folder that nobody here asked for.
        control_socket_disable=True,
        logger_class=Log,
        on_exit=lambda _: shutil.rmtree(os.environ.get(METRICS_FOLDER, ""), ignore_errors=True),
    ).run()
