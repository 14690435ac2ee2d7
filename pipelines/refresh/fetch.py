"""Finds and downloads the input files of builds to a folder of downloads, for refreshes and for `corpusmill
fetch`.

The code is that of a refresh, but no configuration file is needed.

Downloads can be resumed, are verified, and use few connections.

Existing download tools were tried on a server with faults: pypdl gives an incomplete file its final name,
aria2 mixes two versions of a file that is replaced during the download, pooch never resumes, parfive never
retries. So this package decides about retries and mirrors, and the libraries requests and urllib3 only handle
connections, proxies, Retry-After and truncated bodies.

Manages the folder of downloads, which has a subfolder for each source and date, like the dump server.

Example: <downloads>/ukwiki/20261101/ukwiki-20261101-pages-articles.xml.bz2
"""

import concurrent.futures
import getpass
import os
import pathlib
import shlex
import shutil
import socket
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from apache_beam.io.filesystems import FileSystems

from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.read_files import is_there, list_subfolders
from corpusmill.transforms.files.stores import is_local, list_below, remove_below
from corpusmill.transforms.files.terminal import draw
from corpusmill.transforms.files.text import iso_date
from corpusmill.transforms.files.write_files import write_whole

from .config import CorpusTable, FilesTable, Settings, tables
from .http_requests import name_ourselves, open_session, plain_session
from .part_files import DiskPart, PartFile, StoredPart, give_up_uploads
from .sites import find_offers
from .sources import DiskFullError, DownloadError, RemoteDump, RemoteFile
from .state import locked
from .transfer import InterruptedTransferError, Patience, Switch, Transfer, shown

CONNECTIONS = 2
"""Default number of connections. The dump servers allow three for each client address."""


def download(
    files: Sequence[RemoteFile],
    folder: str,
    *,
    user_agent: str,
    connections: int = CONNECTIONS,
    min_free_bytes: int = 0,
    patience: Patience = Patience(),  # noqa: B008  it cannot be changed
    count_bytes: Callable[[int], None] = lambda _: None,
) -> list[str]:
    """Downloads files and checks them. Returns their paths in the given order.

    Files from an earlier call are checked and kept, and incomplete files are resumed. If one file fails, the
    others are still downloaded, unless the disk is full.

    Args:
      folder: output folder, created if missing. No other process may download into it at the same time.
      user_agent: User-Agent header from `ask.name_ourselves`.
      connections: maximum number of simultaneous connections, for all files and servers together.
      min_free_bytes: number of bytes to keep free on the disk.
      patience: limits for retries and waiting times.
      count_bytes: function that is called, by several threads, with the size of each piece of data received.

    Raises:
      ValueError: invalid settings or file names.
      DiskFullError: the disk has too little space. The bytes received are kept, and the next call resumes.
      DownloadError: none of the addresses of a file provides the expected bytes.
    """
    if connections < 1:
        raise ValueError(f"connections must be at least 1, got {connections}")
    part_of: type[PartFile] = DiskPart if is_local(folder) else StoredPart
    parts = [part_of(folder, file) for file in files]
    if len({part.path for part in parts}) < len(parts):
        raise ValueError("two of the files to download have the same name")
    if is_local(folder):
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise DownloadError(
                folder, "", f"the folder cannot be created: {error.strerror}"
            ) from None
    _check_room(parts, folder, min_free_bytes)
    switch = Switch()

    def fetch(part: PartFile) -> str:
        switch.check()
        with plain_session(user_agent) as session:
            return Transfer(part, session, patience, switch, count_bytes, min_free_bytes).run()

    with shown(parts), concurrent.futures.ThreadPoolExecutor(connections) as pool:
        running = [pool.submit(fetch, part) for part in parts]
        try:
            for ended in concurrent.futures.as_completed(running):
                if isinstance(ended.exception(), DiskFullError):
                    switch.turn_off()
        except BaseException:
            switch.turn_off()
            raise
    return _results(running)


def _check_room(parts: Sequence[PartFile], folder: str, min_free_bytes: int) -> None:
    there = parts[0].free_bytes() if parts else None
    if there is None:
        return
    needed = sum(max(part.file.size - part.bytes_there, 0) for part in parts)
    free = there - min_free_bytes
    if needed > max(free, 0):
        kept = f" beyond min_free_bytes ({min_free_bytes:,})" if min_free_bytes else ""
        reason = f"not enough disk space: {needed:,} more bytes are needed, {max(free, 0):,} are free{kept}"
        raise DiskFullError(folder, "", reason)


def _results(ended: Sequence[concurrent.futures.Future[str]]) -> list[str]:
    if not (errors := [error for one in ended if (error := one.exception())]):
        return [one.result() for one in ended]
    # Raises the error about a full disk first, because it interrupted the other transfers.
    kinds = (DiskFullError, DownloadError, InterruptedTransferError)
    ranks = {kind: rank for rank, kind in enumerate(kinds)}
    first = min(errors, key=lambda error: ranks.get(type(error), -1))
    more = sum(isinstance(error, DownloadError) for error in errors) - 1
    if isinstance(first, DownloadError) and more > 0:
        reason = f"{first.reason} ({more} more of {len(ended)} files failed)"
        raise type(first)(first.name, first.url, reason) from first
    raise first


OURS = ".corpusmill-refresh"  # marks a folder that a refresh created and may remove


def folder_of(downloads: str, dump: RemoteDump) -> str:
    """Returns the folder for the files of a dump: `<downloads>/<source>/<date>`."""
    return str(FileSystems.join(downloads, dump.source, dump.date))


def fetch_dump(
    dump: RemoteDump,
    settings: Settings,
    count_bytes: Callable[[int], None] = lambda _: None,
    *,
    is_ours: bool = True,
) -> dict[str, list[str]]:
    """Downloads the missing files of a dump. Returns the paths of its files for each role, such as "dump".

    Args:
      count_bytes: function that is called, by several threads, with the size of each piece of data received.
      is_ours: whether to mark the folder, so that a refresh may remove the files after the build.

    Raises DownloadError if a file cannot be downloaded, and OSError if the folder cannot be written.
    """
    folder = folder_of(settings.downloads, dump)
    if is_ours:
        _mark(folder)
    files = {file.name: file for file in dump.all_files}
    paths = download(
        list(files.values()),
        folder,
        user_agent=name_ourselves(settings.contact),
        connections=settings.connections,
        min_free_bytes=settings.min_free_bytes,
        count_bytes=count_bytes,
    )
    path_of = dict(zip(files, paths, strict=True))
    return {role: [path_of[one.name] for one in dump.files[role]] for role in dump.files}


def _mark(folder: str) -> None:
    """Marks an empty folder as created by a refresh.

    A folder that already has files is not marked, so a refresh never removes it.
    """
    mark = FileSystems.join(folder, OURS)
    if not is_local(folder):
        if not list_below(folder):
            write_whole(mark, b"")
        return
    place = pathlib.Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    if not any(place.iterdir()):
        pathlib.Path(mark).touch()  # atomic: a temporary file would make the folder non-empty


def remove_downloads(downloads: str, sources: Iterable[str], wanted: Collection[str]) -> list[str]:
    """Removes downloads that are no longer needed. Returns the paths of the removed folders.

    Only folders that a refresh has marked as its own are removed.

    Args:
      downloads: The parent folder of all downloads.
      sources: The names of the sources, such as "ukwiki", whose downloads may be removed.
      wanted: The folders of these sources that must be kept.

    Raises OSError or InputError if a folder cannot be read or removed.
    """
    removed = []
    for source in dict.fromkeys(sources):
        place = FileSystems.join(downloads, source)
        for folder in [FileSystems.join(place, date) for date in list_subfolders(place)]:
            if folder not in wanted and is_there(FileSystems.join(folder, OURS)):
                _remove(folder) if is_local(folder) else _remove_from_store(folder)
                removed.append(folder)
    return removed


def _remove(folder: str) -> None:
    """Removes a folder that a refresh has marked.

    The file that marks it is removed last, so that the next run continues an interrupted removal.
    """
    for entry in list(os.scandir(folder)):
        if entry.name == OURS:
            continue
        if entry.is_dir(follow_symlinks=False):
            shutil.rmtree(entry.path)
        else:
            pathlib.Path(entry.path).unlink()
    (pathlib.Path(folder) / OURS).unlink()
    pathlib.Path(folder).rmdir()


def _remove_from_store(folder: str) -> None:
    """Removes a folder on an object store, including unfinished uploads."""
    give_up_uploads(f"{folder}/")
    if names := [name for name in list_below(folder) if name != OURS]:
        FileSystems.delete([FileSystems.join(folder, *name.split("/")) for name in names])
    remove_below(folder)


_COMMANDS = {"flores101": "flores101 source"}  # corpora whose command differs from their name
_OUTPUT = "corpora"
_ATTEMPTS = 3  # fewer than in a refresh, because a user waits


class Wanted(NamedTuple):
    """A request for a download: the settings of the corpus and of the servers."""

    table: CorpusTable
    settings: Settings

    def find(self) -> list[list[RemoteDump]]:
        """Returns a list for each source of the corpus: the newest finished dump on each mirror, sorted from
        the newest to the oldest. Equal dumps on several mirrors are merged.

        Raises SiteError if no mirror of a source gave a response that could be understood, and BuildError if
        no dump of a source is finished yet.
        """
        session = open_session(name_ourselves(self.settings.contact), _ATTEMPTS)
        found = []
        for source in self.table.sources(self.settings):
            if not (offers := find_offers(source, session)):
                raise BuildError(f"{source.name}: no dump is finished yet; try again later")
            found.append(offers)
        return found

    def fetch(self, found: Sequence[Sequence[RemoteDump]]) -> str:
        """Downloads the first available dump of each source. Returns the command that builds the corpus from
        the files, quoted for a shell.

        Args:
          found: dumps of each source, from `find`.

        If all dumps of a source fail, raises the error of the first one. Raises BusyError if another process
        is downloading to the same folder.
        """
        kind = self.table.kind
        words = [
            word for name, value in self.table.given().items() for word in (f"--{name}", value)
        ]
        dumps = []
        with locked([self.settings.downloads]):
            for offers in found:
                dump, files = self._fetch_first(offers)
                dumps.append(dump)
                for role, paths in files.items():
                    setting = self.table.setting_of(dump.source, role)
                    words += [f"--{setting.replace('_', '-')}", *paths]
        words += [*_name_date(dumps), "--output", _OUTPUT]
        return f"corpusmill {_COMMANDS.get(kind, kind)} {shlex.join(words)}"

    def _fetch_first(
        self, offers: Sequence[RemoteDump]
    ) -> tuple[RemoteDump, Mapping[str, list[str]]]:
        errors: list[BuildError] = []
        for offer in offers:
            try:
                return offer, fetch_dump(offer, self.settings, is_ours=False)
            except BuildError as error:
                errors.append(error)
        raise errors[0]


def kinds() -> dict[str, type[CorpusTable]]:
    """Returns corpus name → class of its settings, for all corpora with known download sites."""
    return {kind: table for kind, table in tables().items() if not issubclass(table, FilesTable)}


def want(kind: str, downloads: str, contact: str, mirrors: Sequence[str], **named: Any) -> Wanted:
    """Creates a request for a download.

    Args:
      kind: name of the corpus.
      downloads: folder for the files.
      contact: contact address that is sent to the servers; "" to send the user and host name of this machine.
      mirrors: URLs of mirrors to use for all sources instead of the default sites.
      named: fields of the corpus's settings, and other fields of `Settings` such as `connections`.

    Raises ValueError for settings that the corpus does not have, and for invalid values.
    """
    found = kinds()[kind]
    of_all = {field.name for field in msgspec.structs.fields(Settings)}
    known = {field.name for field in msgspec.structs.fields(found)}
    for name in named:
        if name not in known | of_all:
            raise ValueError(f"--{name.replace('_', '-')} cannot be used with {kind}")
    for_all = {name: value for name, value in named.items() if name in of_all}
    if mirrors:
        names = ("mirrors", "gutenberg_mirrors", "news_mirrors")
        for_all |= dict.fromkeys(names, tuple(mirrors))
    contact = contact or f"{getpass.getuser()}@{socket.getfqdn()}"
    name_ourselves(contact)
    places = {"output": downloads, "downloads": downloads, "contact": contact}
    settings = msgspec.convert({**places, **for_all}, Settings)
    of_corpus = {name: value for name, value in named.items() if name in known}
    (table,) = msgspec.convert({"kind": kind, **of_corpus}, found).one_by_one()
    return Wanted(table, settings)


def describe(dump: RemoteDump, downloads: str) -> str:
    """Returns a line about a dump and its download folder, and a table of the files."""
    files = list({file.name: file for file in dump.all_files}.values())
    rows = [
        (
            file.name,
            file.checksum.partition(":")[0] or "none on the site",
            f"{file.size:,}" if file.size >= 0 else "unknown",
        )
        for file in files
    ]
    total = f"{len(files):,} files", "", f"{sum(max(file.size, 0) for file in files):,}"
    table = draw(("file", "checksum", "bytes"), rows, numbers=1, total=total)
    return f"{dump.source} of {dump.date} → {folder_of(downloads, dump)}\n{table}"


def _name_date(dumps: Sequence[RemoteDump]) -> list[str]:
    """Returns the flag --dump-date with the oldest date of the dumps.

    Returns an empty list if a file name contains this date, because the build reads the date from the name.
    """
    date = min(dump.date for dump in dumps)
    names = [file.name for dump in dumps for file in dump.all_files]
    if any(date in name or iso_date(date) in name for name in names):
        return []
    return ["--dump-date", date]
