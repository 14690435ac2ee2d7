"""Dumps and files that servers offer, and the errors of servers."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from pipelines.engines.errors import BuildError

_PASSWORD = re.compile(r"(?<=://)[^/?#\s]*@")


def hide_passwords(text: str) -> str:
    """The text without the names and passwords in its addresses: "https://***@mirror/"."""
    return _PASSWORD.sub("***@", text)


class RemoteFile(NamedTuple):
    """A file that can be fetched."""

    name: str  # "ukwiki-20261101-page_props.sql.gz", no folder
    urls: tuple[str, ...]  # of the same bytes, the preferred first
    size: int = -1  # bytes; -1 unknown
    checksum: str = ""  # "sha1:da39…", "sha256:…", "md5:…"; "" unknown
    etag: str = ""  # of the first url when it was found, where nothing else tells versions apart


class RemoteDump(NamedTuple):
    """The files of one date, all of them finished."""

    source: str  # "ukwiki"
    date: str  # "20261101"; of news a year, "2025"
    files: Mapping[
        str, tuple[RemoteFile, ...]
    ]  # role → files; most are settings of a corpus: "dump"

    @property
    def all_files(self) -> list[RemoteFile]:
        """Those of all roles."""
        return [file for of_role in self.files.values() for file in of_role]


class SiteError(BuildError):
    """No server of a source could be asked, or what it says cannot be understood."""

    def __init__(self, message: str):
        super().__init__(hide_passwords(message))


class DownloadError(BuildError):
    """A file could not be fetched. What there is of it waits for the next attempt."""

    def __init__(self, name: str, url: str, reason: str):
        url, reason = hide_passwords(url), hide_passwords(reason)
        super().__init__(f"{name} from {url}: {reason}" if url else f"{name}: {reason}")
        self.name, self.url, self.reason = name, url, reason

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.name, self.url, self.reason)


class DiskFullError(DownloadError):
    """There is no room for the files."""
