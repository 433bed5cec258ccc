"""Finds the programs that the tests need beside Python, a browser and nginx, and installs those that are missing.

On Debian the distribution's own, by its package manager; elsewhere playwright's browser.
"""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["browser", "nginx"]

HEADLESS = "chromium-headless-shell"  # Debian's name of a Chromium without windows, which computes a sixth less
# Not by apt on Ubuntu: its packages of these names only fetch a snap, which headless servers can't run.
COMMANDS = (HEADLESS, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FOR_ROOT = "/usr/sbin:/usr/local/sbin"  # not on everybody's PATH


def browser() -> Path | None:
    """The path of the browser: the system's, else playwright's own; None when there is neither."""
    for command in COMMANDS:
        if found := shutil.which(command):
            return Path(found)
    from playwright.sync_api import sync_playwright  # starting it takes a second that a system's browser spares

    with sync_playwright() as playwright:
        own = Path(playwright.chromium.executable_path)
    return own if own.exists() else None


def nginx() -> Path | None:
    """The path of nginx."""
    found = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:{FOR_ROOT}")
    return Path(found) if found else None


def main() -> int:
    lacking = 0
    for find, package, advice in (
        (browser, HEADLESS, "install Chromium so that `chromium` is on PATH"),
        (nginx, "nginx", "install nginx so that it is on PATH"),
    ):
        if find() is None:
            say(f"the tests need {package}, which is not here: installing it")
            try:
                _install(package)
            except (OSError, subprocess.CalledProcessError) as error:
                say(f"that failed: {error}")
        if path := find():
            say(f"{package}: {path}")
        else:
            say(f"no {package}: {advice}, then run this again")
            lacking += 1
    return int(bool(lacking))


def _install(package: str) -> None:
    sudo = shutil.which("sudo")
    if _is_debian() and (os.geteuid() == 0 or sudo):
        as_root = [sudo] if sudo and os.geteuid() != 0 else []
        apt = [*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet"]
        subprocess.run([*apt, "update"], check=True)
        subprocess.run([*apt, "install", "--yes", "--no-install-recommends", package], check=True)
    elif package == HEADLESS:
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
