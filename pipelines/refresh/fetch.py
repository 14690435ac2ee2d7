"""The files of one build: found on the sites and downloaded as a refresh does it, without a configuration."""

import contextlib
import getpass
import shlex
import socket
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from pipelines.engines.errors import BuildError
from pipelines.refresh.ask import name_ourselves, open_session
from pipelines.refresh.config import CorpusTable, Settings, tables
from pipelines.refresh.downloads import fetch_dump, folder_of
from pipelines.refresh.lock import LockedError, locked
from pipelines.refresh.remote import RemoteDump
from pipelines.refresh.sites import find_offers
from pipelines.refresh.tables import FilesTable
from transforms.text.files.dates import iso_date

_COMMANDS = {"flores101": "flores101 source"}  # of corpora whose command has another name
_OUTPUT = "corpora"
_ATTEMPTS = 3  # a person waits


class Wanted(NamedTuple):
    """The dumps to fetch, and the settings for fetching them."""

    table: CorpusTable
    settings: Settings

    def find(self) -> list[list[RemoteDump]]:
        """For each source, the newest finished dumps of all mirrors, the best first.

        Raises SiteError, and BuildError where no dump is finished.
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
        """The first dump that can be had, and its files by their roles.

        Raises BuildError, that of the first dump where none can be had, or where another process downloads.
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
        """The flags of the build that take the files of a dump."""
        words = []
        for role, paths in files.items():
            setting = self.table.setting_of(dump.source, role)
            words += [f"--{setting.replace('_', '-')}", *paths]
        return words

    def name_build(self, dumps: Sequence[RemoteDump], flags: Sequence[str]) -> str:
        """The command that builds, as it is typed."""
        kind = self.table.kind
        given = [
            word for name, value in self.table.given().items() for word in (f"--{name}", value)
        ]
        words = [*given, *flags, *_name_date(dumps), "--output", _OUTPUT]
        return f"corpusmill {_COMMANDS.get(kind, kind)} {shlex.join(words)}"


def kinds() -> dict[str, type[CorpusTable]]:
    """Name of each corpus whose files are on known sites → its kind of table."""
    return {kind: table for kind, table in tables().items() if not issubclass(table, FilesTable)}


def want(kind: str, downloads: str, contact: str, mirrors: Sequence[str], **named: Any) -> Wanted:
    """Makes the request for a download from settings. Raises ValueError for settings that the
    corpus does not have, or for values that it does not allow.

    Args:
      contact: sent to the servers; "" is the user of this machine.
      mirrors: in place of the sites that are known, for all sources.
      named: fields of the table of the corpus, and `connections` and `layout`.
    """
    found = kinds()[kind]
    of_all = {field.name for field in msgspec.structs.fields(Settings)}
    known = {field.name for field in msgspec.structs.fields(found)}
    for name in named:
        if name not in known | of_all:
            raise ValueError(f"--{name.replace('_', '-')} does not go with {kind}")
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
    """Lines that say what there is to fetch, and where it goes."""
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
    """The date of a build, if the names of its files do not have it."""
    date = min(dump.date for dump in dumps)
    names = [file.name for dump in dumps for file in dump.all_files]
    if any(date in name or iso_date(date) in name for name in names):
        return []
    return ["--dump-date", date]


@contextlib.contextmanager
def _alone(downloads: str) -> Iterator[None]:
    """Lets nobody else download into the folder. Raises BuildError where somebody does."""
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(locked([downloads]))
        except LockedError as error:
            raise BuildError(str(error)) from None
        yield
