"""Lists the dates of the dumps on a server."""

import logging

import requests

from corpusmill.pipelines.refresh.ask import read_listing
from corpusmill.pipelines.refresh.listings import dates_in
from corpusmill.pipelines.refresh.remote import SiteError, hide_passwords
from corpusmill.pipelines.run.editions import is_future

LOG = logging.getLogger(__name__)

_MOST_DATES = 12  # maximum number of dates that are considered per mirror


def read_dates(session: requests.Session, url: str, separator: str = "") -> list[str]:
    """Returns the dates of the subfolders at a URL in the form "20261101", at most 12, the newest first.

    Dates in the future are skipped. Raises SiteError if no date is left.

    Args:
      separator: text between year, month and day in the names of the folders.
    """
    dates = dates_in(read_listing(session, url), separator)
    future = [date for date in dates if is_future(date)]
    if future:
        named = f"{', '.join(future[:3])}{' and more' if len(future) > 3 else ''}"
        LOG.warning("%s: skipped folders with dates in the future: %s", hide_passwords(url), named)
    if len(future) == len(dates):
        which = "except some with dates in the future" if future else "with a date"
        raise SiteError(f"{url}: the page lists no folder {which}")
    return dates[len(future) :][:_MOST_DATES]
