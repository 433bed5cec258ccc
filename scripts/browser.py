"""Finds the browser for the tests, and installs one where there is none.

On Debian it is the distribution's own Chromium, by its package manager; anywhere else playwright's.
"""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["installed"]

# Not by apt on Ubuntu: its packages of these names only fetch a snap, which headless servers can't run.
COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def installed() -> Path | None:
    """The path of the browser: the system's, else playwright's own; None when there is neither."""
    for command in COMMANDS:
        if found := shutil.which(command):
            return Path(found)
    from playwright.sync_api import sync_playwright  # starting it takes a second that a system's browser spares

    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
    return own if own.exists() else None


def main() -> int:
    browser = installed()
    if browser is None:
        say("the browser tests need Chromium, which is not here: installing it")
        try:
            _install()
        except (OSError, subprocess.CalledProcessError) as error:
            say(f"that failed: {error}")
        browser = installed()
    if browser is None:
        say("no browser: install Chromium so that `chromium` is on PATH, then run this again")
        return 1
    say(f"browser: {browser}")
    return 0


def _install() -> None:
    sudo = shutil.which("sudo")
    if _is_debian() and (os.geteuid() == 0 or sudo):
        as_root = [sudo] if sudo and os.geteuid() != 0 else []
        apt = [*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet"]
        subprocess.run([*apt, "update"], check=True)
        subprocess.run([*apt, "install", "--yes", "--no-install-recommends", "chromium"], check=True)
    else:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=True)


def _is_debian() -> bool:
    try:
        return platform.freedesktop_os_release()["ID"] == "debian"
    except OSError:
        return False


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
