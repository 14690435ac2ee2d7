"""Finds and downloads the input files of one build, for `corpusmill fetch`.

The code is that of a refresh, but no configuration file is needed.
"""

import contextlib
import getpass
import shlex
import socket
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from corpusmill.pipelines.refresh.ask import name_ourselves, open_session
from corpusmill.pipelines.refresh.config import CorpusTable, Settings, tables
from corpusmill.pipelines.refresh.downloads import fetch_dump, folder_of
from corpusmill.pipelines.refresh.lock import LockedError, locked
from corpusmill.pipelines.refresh.remote import RemoteDump
from corpusmill.pipelines.refresh.sites import find_offers
from corpusmill.pipelines.refresh.tables import FilesTable
from corpusmill.transforms.files.dates import iso_date
from corpusmill.transforms.files.errors import BuildError

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
            offers = find_offers(source, session)
            if not offers:
                raise BuildError(f"{source.name}: no dump is finished yet; try again later")
            found.append(offers)
        return found

    def fetch(self, offers: Sequence[RemoteDump]) -> tuple[RemoteDump, Mapping[str, list[str]]]:
        """Downloads the first of `offers` that is available. Returns the dump, and role → paths of its files.

        Args:
          offers: dumps of one source, from `find`.

        If all dumps fail, raises the error of the first one. Raises BuildError if another process is
        downloading to the same folder.
        """
        errors: list[BuildError] = []
        with _alone(self.settings.downloads):
            for offer in offers:
                try:
                    return offer, fetch_dump(offer, self.settings, is_ours=False)
                except BuildError as error:
                    errors.append(error)
        raise errors[0]

    def name_flags(self, dump: RemoteDump, files: Mapping[str, Sequence[str]]) -> list[str]:
        """Returns the flags of the build command for the downloaded files: "--dump", path, …

        Args:
          files: role → paths, from `fetch`.
        """
        words = []
        for role, paths in files.items():
            setting = self.table.setting_of(dump.source, role)
            words += [f"--{setting.replace('_', '-')}", *paths]
        return words

    def name_build(self, dumps: Sequence[RemoteDump], flags: Sequence[str]) -> str:
        """Returns the command that builds the corpus from the downloaded files, quoted for a shell.

        Args:
          dumps: the downloaded dumps.
          flags: the flags for their files, from `name_flags`.
        """
        kind = self.table.kind
        given = [
            word for name, value in self.table.given().items() for word in (f"--{name}", value)
        ]
        words = [*given, *flags, *_name_date(dumps), "--output", _OUTPUT]
        return f"corpusmill {_COMMANDS.get(kind, kind)} {shlex.join(words)}"


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


def describe(dump: RemoteDump, downloads: str) -> list[str]:
    """Returns lines to print about a dump: its download folder, and each file with its size and checksum."""
    files = list({file.name: file for file in dump.all_files}.values())
    total = sum(max(file.size, 0) for file in files)
    lines = [
        f"{dump.source} of {dump.date}: {len(files):,} files of {total:,} bytes"
        f" → {folder_of(downloads, dump)}"
    ]
    for file in files:
        size = f"{file.size:,} bytes" if file.size >= 0 else "of unknown size"
        checked = file.checksum.partition(":")[0] or "no checksum on the site"
        lines.append(f"  {file.name}, {size}, {checked}")
    return lines


def _name_date(dumps: Sequence[RemoteDump]) -> list[str]:
    """Returns the flag --dump-date with the oldest date of the dumps.

    Returns an empty list if a file name contains this date, because the build reads the date from the name.
    """
    date = min(dump.date for dump in dumps)
    names = [file.name for dump in dumps for file in dump.all_files]
    if any(date in name or iso_date(date) in name for name in names):
        return []
    return ["--dump-date", date]


@contextlib.contextmanager
def _alone(downloads: str) -> Iterator[None]:
    """Locks the folder of downloads. Raises BuildError if another process has locked it."""
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(locked([downloads]))
        except LockedError as error:
            raise BuildError(str(error)) from None
        yield
