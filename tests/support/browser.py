"""A real browser for the tests, which fails a test when the browser's console is not empty."""

import os
import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, ConsoleMessage, Error, Page, sync_playwright

from scripts.programs import browser as installed_browser

WAIT_MILLISECONDS = 15_000
# Contrast, names, roles, order: WCAG 2.2 to AA, and axe's own advice.
AXE_OPTIONS = {
    "resultTypes": ["violations"],
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}


# What other colours can break of a page that was looked at whole.
OF_COLOURS = {
    "resultTypes": ["violations"],
    "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]},
}


def assert_accessible(page: Page, *, colours: bool = False) -> None:
    """Fails with axe's report, every violation with its element, when the page as it stands has any.

    colours  of them alone, where the same page was looked at whole in others
    """
    results = Axe().run(page, options=OF_COLOURS if colours else AXE_OPTIONS)
    assert results.violations_count == 0, f"{page.url}\n{results.generate_report()}"


class Console:
    """What the browser complains about: console errors and warnings, exceptions of scripts, failed requests."""

    def __init__(self) -> None:
        self._complaints: list[str] = []
        self._expected: list[str] = []

    def expect(self, pattern: str) -> None:
        """Complaints that match `pattern` are this test's subject, such as a form sent back with status 400."""
        self._expected.append(pattern)

    @property
    def complaints(self) -> list[str]:
        return [text for text in self._complaints if not any(re.search(pattern, text) for pattern in self._expected)]

    def watch(self, page: Page) -> None:
        page.on("console", self._hear)
        page.on("pageerror", self._hear_error)

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            self._complaints.append(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    def _hear_error(self, error: Error) -> None:
        self._complaints.append(f"exception: {error}")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Headless Chromium: the system's, else playwright's own."""
    program = installed_browser()
    assert program is not None, "no browser: run `make test`, or `python -m scripts.programs` to install one"
    # Chromium's sandbox refuses to work for root; a container's /dev/shm is too small for its pages.
    arguments = ["--disable-dev-shm-usage", *(["--no-sandbox"] if os.geteuid() == 0 else [])]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def console() -> Iterator[Console]:
    """The browser's console over this test's pages; the test fails when it is not empty at the end."""
    console = Console()
    yield console
    assert not console.complaints, "the browser's console:\n" + "\n".join(console.complaints)


@pytest.fixture
def new_page(browser: Browser, console: Console) -> Iterator[Callable[..., Page]]:
    """Opens a page in a session of its own (its own cookies); takes the options of playwright's `new_context`."""
    contexts = []

    def open_page(**options: Any) -> Page:
        context = browser.new_context(**options)
        context.set_default_timeout(WAIT_MILLISECONDS)
        contexts.append(context)
        page = context.new_page()
        console.watch(page)
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.fixture
def page(new_page: Callable[..., Page]) -> Page:
    """A page at desktop size, signed out."""
    return new_page(viewport={"width": 1280, "height": 900}, locale="en-GB", timezone_id="UTC")


@pytest.fixture
def phone(new_page: Callable[..., Page]) -> Page:
    """A page at phone size, with touch."""
    return new_page(
        viewport={"width": 375, "height": 800}, is_mobile=True, has_touch=True, locale="en-GB", timezone_id="UTC"
    )
