"""Finds Content File Exports of wikis on dumps.wikimedia.org and its mirrors.

The files are in `<mirror>/other/mediawiki_content_current/ukwiki/2026-11-01/xml/bzip2/`. An export is
finished when this folder has the file SHA256SUMS, which lists all files. Their sizes are read from the
listing page of the folder. If the page does not contain exact sizes, they are read from the headers of each
file.
"""

import logging
from collections.abc import Iterable, Mapping

import requests

from corpusmill.pipelines.refresh.ask import read_headers, read_page, read_size
from corpusmill.pipelines.refresh.dated_folders import read_dates
from corpusmill.pipelines.refresh.listings import names_in, sizes_in
from corpusmill.pipelines.refresh.remote import RemoteDump, RemoteFile, SiteError, hide_passwords
from corpusmill.pipelines.refresh.sources import WikimediaSource
from corpusmill.transforms.files.dates import iso_date
from corpusmill.transforms.wikipedia.dump_folder import UnusableDumpError
from corpusmill.transforms.wikipedia.export_folder import (
    CURRENT,
    FOLDER_OF_FILES,
    SUMS,
    ExportFolder,
    parse_name,
    parse_sums,
    select_export,
)

LOG = logging.getLogger(__name__)

_COMPRESSIONS = ("bzip2", "uncompressed", "none", "zstd", "gzip")  # in order of preference
_MOST_FILES = 1_000  # limit for one export; enwiki has 19 files


class _UnfinishedError(UnusableDumpError):
    """The export has no SHA256SUMS, so it is still in progress."""


def find_export(
    source: WikimediaSource, mirror: str, session: requests.Session
) -> RemoteDump | None:
    """Returns the newest finished export on a mirror. An export has only pages, no SQL tables.

    Returns None if the only export on the mirror is still in progress.

    Raises SiteError if the mirror has no exports of the wiki, if it has several and none is complete, or if
    its only export cannot be used for another reason.
    """
    wiki = f"{mirror}/other/{CURRENT}/{source.dbname}"
    dates = read_dates(session, f"{wiki}/", "-")
    faults = []
    for date in dates:
        folder = f"{wiki}/{iso_date(date)}/{FOLDER_OF_FILES}"
        try:
            return RemoteDump(
                source.name, date, {"dump": _find_files(source, folder, date, session)}
            )
        except UnusableDumpError as error:
            faults.append(f"{folder} is skipped: {error}")
            is_known = isinstance(error, _UnfinishedError)
            LOG.log(logging.INFO if is_known else logging.WARNING, hide_passwords(faults[-1]))
    if len(dates) == 1 and is_known:
        return None
    raise SiteError(faults[0])


def _find_files(
    source: WikimediaSource, folder: str, date: str, session: requests.Session
) -> tuple[RemoteFile, ...]:
    """Returns the files of the export of one date. `folder` is the address of its folder.

    If the export is complete in several compressions, the preferred one is used.

    Raises UnusableDumpError if no compression is complete.
    """
    there = set(names_in(read_page(session, f"{folder}/") or b""))
    error = UnusableDumpError(
        f"the export has no folder {', '.join(_COMPRESSIONS[:-1])} or {_COMPRESSIONS[-1]}"
    )
    for name in filter(there.__contains__, _COMPRESSIONS):
        try:
            return _describe_files(source, f"{folder}/{name}", date, session)
        except UnusableDumpError as reason:
            error = reason
    raise error


def _describe_files(
    source: WikimediaSource, folder: str, date: str, session: requests.Session
) -> tuple[RemoteFile, ...]:
    content = read_page(session, f"{folder}/{SUMS}")
    if content is None:
        raise _UnfinishedError(f"{SUMS} is missing: the export is not finished")
    sums = parse_sums(content)
    sizes = _find_sizes(folder, filter(parse_name, sums), session)
    export = ExportFolder(source.dbname, date, sizes, sums)
    return tuple(
        RemoteFile(name, (f"{folder}/{name}",), sizes[name], f"sha256:{sums[name]}")
        for name in select_export(export, keep_good=source.keep_good)
    )


def _find_sizes(folder: str, listed: Iterable[str], session: requests.Session) -> Mapping[str, int]:
    """Returns file name → size in bytes, for the files in a folder of the server. Unknown sizes are -1.

    The sizes are read from the listing page of the folder. If a size is missing there, a HEAD request for the
    file is sent.

    Args:
      folder: address of the folder.
      listed: names of the files, from SHA256SUMS.

    Raises UnusableDumpError if the listing page lacks the sizes of more than _MOST_FILES files.
    """
    sizes = {
        name: size
        for name, size in sizes_in(read_page(session, f"{folder}/") or b"").items()
        if parse_name(name)
    }
    unknown = [name for name in listed if name not in sizes]
    if len(unknown) > _MOST_FILES:
        message = (
            f"{SUMS} lists {len(unknown):,} files whose sizes are not on the page of the folder"
        )
        raise UnusableDumpError(message)
    for name in unknown:
        url = f"{folder}/{name}"
        if (headers := read_headers(session, url)) is not None:
            sizes[name] = read_size(url, headers)
    return sizes
