"""Describes dumps and files on servers, and the errors of finding and downloading them."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from corpusmill.transforms.files.errors import BuildError

_PASSWORD = re.compile(r"(?<=://)[^/?#\s]*@")


def hide_passwords(text: str) -> str:
    """Replaces user names and passwords in URLs, as in "https://***@mirror/"."""
    return _PASSWORD.sub("***@", text)


class RemoteFile(NamedTuple):
    """A file on one or more servers."""

    name: str  # "ukwiki-20261101-page_props.sql.gz", no folder
    urls: tuple[str, ...]  # all with the same bytes, in order of preference
    size: int = -1  # bytes; -1 unknown
    checksum: str = ""  # "sha1:da39…", "sha256:…", "md5:…"; "" unknown
    etag: str = ""  # ETag at the first URL; set if nothing else distinguishes versions of the file


class RemoteDump(NamedTuple):
    """The files that a source, such as a wiki, has published for one date."""

    source: str  # "ukwiki"
    date: str  # "20261101"; for news a year, "2025"
    files: Mapping[
        str, tuple[RemoteFile, ...]
    ]  # role → files; most roles are build settings, such as "dump"

    @property
    def all_files(self) -> list[RemoteFile]:
        """The files of all roles, in one list."""
        return [file for of_role in self.files.values() for file in of_role]


class SiteError(BuildError):
    """No server of a source could be reached, or a server sent a response that cannot be understood."""

    def __init__(self, message: str):
        super().__init__(hide_passwords(message))


class DownloadError(BuildError):
    """A file could not be downloaded. The bytes received so far are kept for the next attempt."""

    def __init__(self, name: str, url: str, reason: str):
        url, reason = hide_passwords(url), hide_passwords(reason)
        super().__init__(f"{name} from {url}: {reason}" if url else f"{name}: {reason}")
        self.name, self.url, self.reason = name, url, reason

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.name, self.url, self.reason)


class DiskFullError(DownloadError):
    """The disk does not have enough space for the files."""
