"""The browser of this machine."""

import shutil

BROWSERS = ("chromium", "chromium-browser", "google-chrome")


def find_browser() -> str | None:
    """The path of a Chromium; None where none is installed."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)
