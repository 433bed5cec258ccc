"""What `leaderboard serve` and `leaderboard demo` listen on, without the site's packages."""

import os
import socket

from leaderboard.errors import BadInput


def listen(host: str, port: int) -> socket.socket:
    """A listening socket. Raises BadInput, saying what to do, when it can't listen there."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        # create_server's own message repeats the address: only the reason is taken from it.
        own = None if isinstance(error, socket.gaierror) else error.errno
        reason = os.strerror(own) if own is not None else error.strerror
        raise BadInput(f"can't listen on {host}, port {port}: {reason}; choose another with --port") from error


def address_of(listener: socket.socket) -> str:
    """The URL to type into a browser."""
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
