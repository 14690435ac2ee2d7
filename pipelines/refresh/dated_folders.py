"""The dates of the dumps that a server has."""

import logging

import requests

from pipelines.builds.editions import is_future
from pipelines.refresh.ask import read_listing
from pipelines.refresh.listings import dates_in
from pipelines.refresh.remote import SiteError, hide_passwords

LOG = logging.getLogger(__name__)

_MOST_DATES = 12  # folders of a mirror that are looked into


def read_dates(session: requests.Session, url: str, separator: str = "") -> list[str]:
    """The dates that a folder has, like "20261101", the newest first. Raises SiteError where there is none.

    Args:
      separator: of year, month and day in the names of the folders.
    """
    dates = dates_in(read_listing(session, url), separator)
    future = [date for date in dates if is_future(date)]
    if future:
        named = f"{', '.join(future[:3])}{' and more' if len(future) > 3 else ''}"
        LOG.warning("%s: passed over, for a date in the future: %s", hide_passwords(url), named)
    if len(future) == len(dates):
        which = "but some of the future" if future else "of a date"
        raise SiteError(f"{url}: the page names no folder {which}")
    return dates[len(future) :][:_MOST_DATES]
