"""`make pictures`: starts a demonstration and takes the README's pictures of it, each in light and in dark."""

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, sync_playwright

from scripts.programs import browser as installed_browser

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
BOARD = "/campaigns/harbour/2025-text"
# name: address, width and height in CSS pixels
PAGES = {
    "board": (BOARD, 1280, 900),
    "progress": ("/campaigns/harbour/progress?condition=Text", 1280, 640),
    "query": (f"{BOARD}/queries", 1280, 720),
    "phone": (BOARD, 375, 812),
}


def main() -> int:
    browser = installed_browser()
    if browser is None:
        sys.stdout.write("no browser: run `make test` once, which installs one\n")
        return 1
    FOLDER.mkdir(parents=True, exist_ok=True)
    with demonstration() as address, sync_playwright() as playwright:
        # As root, as in most containers, Chromium runs without its sandbox only.
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        with chromium.new_page() as page:  # the worker adds intervals when it has nothing to score
            page.goto(address + BOARD)
            while page.get_by_text("Show intervals").count() == 0:
                page.wait_for_timeout(1000)
                page.reload()
        for name, (path, width, height) in PAGES.items():
            for scheme in SCHEMES:
                take(chromium, address + path, FOLDER / f"{name}-{scheme}.png", width, height, scheme)
        chromium.close()
    return 0


@contextmanager
def demonstration() -> Iterator[str]:
    """The address of a demonstration that lasts as long as the block."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "leaderboard", "demo", "--port", "0", "--dir", f"{folder}/demo"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                yield _address(process)
            finally:
                process.terminate()
                process.wait()


def _address(process: subprocess.Popen[str]) -> str:
    for line in process.stdout or ():
        if found := re.search(r"The site is at (http://\S+)", line):
            return found[1]
    raise SystemExit("the demonstration ended before its site was up")


def take(browser: Browser, address: str, path: Path, width: int, height: int, scheme: Literal["light", "dark"]) -> None:
    with browser.new_page(
        viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce"
    ) as page:
        page.goto(address)
        page.screenshot(path=path)
    sys.stdout.write(f"{path.relative_to(FOLDER.parent.parent)}\n")


if __name__ == "__main__":
    sys.exit(main())
