"""
Headless Chromium that opens pages from a file.

Without it the tests cannot decide anything, so its absence is an error and not a skip.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome")
OPTIONS = ("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage")
"""It runs as root in containers, and opens nothing but our own files."""


class NoChromiumError(Exception):
    """There is no Chromium to be found."""


def find_chromium() -> str:
    """Return the path of Chromium; CHROMIUM overrides it."""
    named = os.environ.get("CHROMIUM")
    found = filter(None, [named, *map(shutil.which, PROGRAMS)])
    program = next(found, None)
    if program is None:
        raise NoChromiumError("no chromium on the PATH; Debian: apt install chromium")
    return program


@contextmanager
def chromium() -> Iterator[Browser]:
    """Yield a browser, closed at the end."""
    with sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=find_chromium(), args=list(OPTIONS)
        )
        yield browser
        browser.close()


@contextmanager
def opened(
    browser: Browser, file: Path, *, width: int = 1200, dark: bool = False
) -> Iterator[Page]:
    """Yield *file* in a window of this width; anything on its console is a failure."""
    scheme = "dark" if dark else "light"
    context = browser.new_context(
        viewport={"width": width, "height": 800}, color_scheme=scheme
    )
    printed: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: printed.append(message.text))
    page.on("pageerror", lambda error: printed.append(str(error)))
    page.on("requestfailed", lambda request: printed.append(request.url))
    page.goto(file.resolve().as_uri())
    yield page
    context.close()
    assert printed == []


if __name__ == "__main__":
    try:
        find_chromium()
    except NoChromiumError as error:
        sys.exit(str(error))
