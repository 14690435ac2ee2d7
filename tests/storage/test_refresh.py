"""A refresh whose output, downloads, state and lock are on an object store."""

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from hashlib import sha1
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from corpusmill.pipelines.refresh import part_files
from corpusmill.pipelines.refresh.fetch import download
from corpusmill.pipelines.refresh.sources import DownloadError, RemoteFile
from corpusmill.pipelines.run import publish
from corpusmill.transforms.files.stores import client_of
from tests.makers.wiki_builds import run_cli
from tests.pipelines.refresh.dump_server import (
    CutOff,
    DumpServer,
    Garbage,
    Slow,
    Stall,
    WithoutLength,
)
from tests.pipelines.refresh.test_download import HASTE, USER_AGENT
from tests.pipelines.refresh.wiki_site import BUILD, NEW, OLD, VERSION, dump_path, put_dump
from tests.storage import processes
from tests.storage.stores import Store, names_below, read, tree_of, write

pytestmark = pytest.mark.storage

OLD_EDITION, NEW_EDITION = f"{OLD}-{VERSION}", f"{NEW}-{VERSION}"
LIMIT_SECONDS = 300.0
LARGE = random.Random(3).randbytes(16_000_000)  # several requests to the store


@pytest.fixture
def site() -> Iterator[DumpServer]:
    with DumpServer() as site:
        yield site


# Files.


def offer(site: DumpServer, content: bytes, **changes: Any) -> RemoteFile:
    site.put("/dump.xml", content)
    checksum = f"sha1:{sha1(content).hexdigest()}"
    file = RemoteFile("dump.xml", (f"{site.url}/dump.xml",), len(content), checksum)
    return file._replace(**changes)


def fetch(file: RemoteFile, folder: str) -> bytes:
    (path,) = download([file], folder, user_agent=USER_AGENT, patience=HASTE)
    assert path == f"{folder}/dump.xml"
    assert names_below(folder) == [".dump.xml.json", "dump.xml"]
    return read(path)


def open_uploads(store: Store) -> int:
    """Uploads to S3 that nobody has ended."""
    _, client, place = client_of(store.path(""))
    return len(client.list_multipart_uploads(Bucket=place["Bucket"]).get("Uploads", ()))


def test_a_large_file_goes_on_where_it_was_cut_off_and_is_not_read_again(
    store: Store, site: DumpServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part_files, "_SENT_BYTES", 6_000_000)
    file, folder = offer(site, LARGE), store.path("large")
    site.fail("/dump.xml", CutOff(8_000_000), CutOff(1_000))
    assert fetch(file, folder) == LARGE
    ranges = [one.headers.get("range") for one in site.asked_for("/dump.xml")]
    assert ranges == [None, "bytes=8000000-", "bytes=8001000-"]

    monkeypatch.setattr(part_files.PartFile, "_digest", lambda *_: "of what was read again")
    fetch(file, folder)
    assert len(site.asked_for("/dump.xml")) == 3
    write(f"{folder}/dump.xml", LARGE[::-1])  # another object than the one that was checked
    assert fetch(file, folder) == LARGE
    assert len(site.asked_for("/dump.xml")) == 4


@pytest.mark.parametrize(
    ("faults", "changes", "complaint"),
    [
        ([Garbage()] * 2, {}, "has the sha1"),
        ([WithoutLength(500)], {"size": -1, "checksum": ""}, "the response has no Content-Length"),
        ([], {"size": 2_000}, "the server offers 1,000 bytes, expected 2,000"),
        ([], {"name": "dump.bz2"}, "is not a .bz2 file"),
        ([], {"name": "dump.zip"}, "cannot be opened"),
    ],
)
def test_what_is_not_the_file_is_not_kept(
    store: Store, site: DumpServer, faults: list[Any], changes: dict[str, Any], complaint: str
) -> None:
    file = offer(site, bytes(1_000), **changes)
    site.fail("/dump.xml", *faults)
    folder = store.path("wrong", complaint[-4:])
    with pytest.raises(DownloadError, match=complaint):
        download([file], folder, user_agent=USER_AGENT, patience=HASTE)
    assert names_below(folder) == []
    assert fetch(offer(site, LARGE[:1_000]), folder) == LARGE[:1_000]


def _download(file: RemoteFile, folder: str) -> None:
    part_files._SENT_BYTES = 6_000_000
    download([file], folder, user_agent=USER_AGENT)


def test_an_upload_of_a_killed_process_is_no_object_and_is_given_up(
    store: Store, site: DumpServer
) -> None:
    file, folder = offer(site, LARGE), store.path("killed")
    site.fail("/dump.xml", Stall(13_000_000, LIMIT_SECONDS))
    process = processes.start(_download, file, folder)
    wait_for(lambda: site.bytes_sent >= 13_000_000, process)
    if store.scheme == "s3":
        wait_for(lambda: open_uploads(store) == 1, process)
    process.kill()
    process.join()
    assert names_below(folder) == []
    assert fetch(file, folder) == LARGE
    if store.scheme == "s3":
        assert open_uploads(store) == 0


def wait_for(has_come: Callable[[], bool], process: Any) -> None:
    end = time.monotonic() + LIMIT_SECONDS
    while not has_come():
        assert process.is_alive()
        assert time.monotonic() < end, "waited too long"
        time.sleep(0.05)


# All of a refresh.


class Place(NamedTuple):
    """A refresh.toml, and what it names."""

    config: Path
    output: str

    @property
    def editions(self) -> str:
        return f"{self.output}/wiki40b/uk-no-wiki-templates"

    def edition(self, name: str) -> dict[str, bytes]:
        """Its bytes, of a finished one."""
        tree = tree_of(f"{self.editions}/{name}")
        assert "COMPLETED" in tree
        return tree

    def current(self) -> str:
        names = names_below(self.editions)
        return read(f"{self.editions}/CURRENT").decode().strip() if "CURRENT" in names else ""

    def names(self) -> set[str]:
        """Returns the names in the folder of the corpus."""
        return {name.partition("/")[0] for name in names_below(self.editions)}

    def others(self) -> list[str]:
        """Returns the files beside the corpus: downloads, state."""
        return [name for name in names_below(self.output) if not name.startswith("wiki40b/")]


STATE = [".downloads/.refresh/metrics.prom", ".downloads/.refresh/wiki40b-uk.json"]


def configure(folder: Path, output: str, site: DumpServer, more: str = "") -> Place:
    config = folder / "refresh.toml"
    config.write_text(
        f'[refresh]\noutput = "{output}"\ncontact = "tests@example.org"\nworkers = 1\n'
        f'mirrors = ["{site.url}"]\n{more}\n'
        f'[[corpus]]\nkind = "wiki40b"\nlanguage = "uk"\nmin_documents = 1\nbuild = {BUILD}\n',
        "utf-8",
    )
    return Place(config, output)


@pytest.fixture(scope="module")
def undisturbed(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A store that has followed a site from the old dump to the new one."""
    with DumpServer() as site:
        put_dump(site, OLD)
        folder = tmp_path_factory.mktemp("undisturbed")
        place = configure(folder, store.path("undisturbed"), site)
        assert run_cli("refresh", "--config", place.config) == 0
        assert place.current() == OLD_EDITION
        put_dump(site, NEW)
        assert run_cli("refresh", "--config", place.config) == 0
    return place


def test_a_refresh_on_a_store(undisturbed: Place) -> None:
    assert undisturbed.current() == NEW_EDITION
    reports = {f"changes-{NEW_EDITION}.tsv", f"changes-{NEW_EDITION}.tsv.json"}
    assert undisturbed.names() == {OLD_EDITION, NEW_EDITION, "CURRENT", "README.md"} | reports
    assert undisturbed.others() == STATE
    assert undisturbed.edition(OLD_EDITION) != undisturbed.edition(NEW_EDITION)
    assert list(undisturbed.config.parent.iterdir()) == [undisturbed.config]


@pytest.fixture
def before(undisturbed: Place, store: Store, site: DumpServer, tmp_path: Path) -> Place:
    """A store with the old edition, and the new dump on the site; the old one is to be removed."""
    place = configure(tmp_path, store.path(tmp_path.name), site, "keep = 1")
    for name, content in undisturbed.edition(OLD_EDITION).items():
        write(f"{place.editions}/{OLD_EDITION}/{name}", content)
    write(f"{place.editions}/CURRENT", f"{OLD_EDITION}\n".encode())
    put_dump(site, OLD)
    put_dump(site, NEW)
    return place


def _refresh(config: str, log: str) -> None:
    """`corpusmill refresh` as a process and leader of a session."""
    os.setsid()
    publish.BEAT_SECONDS, publish.DEAD_SECONDS = 0.3, 3.0
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    os._exit(run_cli("refresh", "--config", config))


def test_killed_in_the_download_and_in_the_build(
    before: Place, undisturbed: Place, site: DumpServer
) -> None:
    log = before.config.parent / "log"
    begun = (
        lambda: site.bytes_sent > 5_000,
        lambda: any(name.startswith(f".{NEW_EDITION}.building") for name in before.names()),
    )
    site.fail(dump_path(NEW), Slow(2_000))
    for has_begun in begun:
        process = processes.start(_refresh, str(before.config), str(log))
        wait_for(has_begun, process)
        assert before.current() == OLD_EDITION
        os.killpg(process.pid or 0, signal.SIGKILL)
        process.join()
        assert before.edition(OLD_EDITION) == undisturbed.edition(OLD_EDITION)
        assert NEW_EDITION not in before.names()
        finished = [name for name in before.others() if name.endswith(".bz2")]
        assert bool(finished) == (has_begun is begun[1])
    process = processes.start(_refresh, str(before.config), str(log))
    process.join(LIMIT_SECONDS)
    assert process.exitcode == 0, log.read_text("utf-8")
    assert len(site.asked_for(dump_path(NEW))) == 2  # what was whole is not fetched again
    assert before.current() == NEW_EDITION
    assert before.edition(NEW_EDITION) == undisturbed.edition(NEW_EDITION)
    assert {name for name in before.names() if not name.startswith("changes-")} == {
        NEW_EDITION,
        "CURRENT",
        "README.md",
    }
    assert before.others() == STATE


def test_a_wrong_checksum_publishes_nothing(
    before: Place, site: DumpServer, capsys: pytest.CaptureFixture[str]
) -> None:
    site.fail(dump_path(NEW), *[Garbage()] * 4)
    names = before.names()
    assert run_cli("refresh", "--config", before.config) == 1
    assert "the downloaded file has the sha1" in capsys.readouterr().out
    assert (before.names(), before.current()) == (names, OLD_EDITION)
    assert not [name for name in before.others() if ".xml.bz2" in name]


def test_it_does_not_run_beside_itself(
    before: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish, "BEAT_SECONDS", 0.3)
    with publish.at_work(f"{before.output}/.downloads/.refresh/.refresh-lock", "refresh"):
        assert run_cli("refresh", "--config", before.config) == 75
    assert "another refresh is running" in capsys.readouterr().err
    assert before.others() == []
