"""Downloads from a site that misbehaves. What is there under its name is always whole."""

import hashlib
import io
import logging
import os
import random
import signal
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType, SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from corpusmill.pipelines.refresh import part_files, transfer
from corpusmill.pipelines.refresh.fetch import download
from corpusmill.pipelines.refresh.http_requests import plain_session
from corpusmill.pipelines.refresh.part_files import DiskPart, Note
from corpusmill.pipelines.refresh.refresh_corpus import is_disk_full
from corpusmill.pipelines.refresh.sources import DiskFullError, DownloadError, RemoteFile
from tests.pipelines.refresh.conftest import small_disk
from tests.pipelines.refresh.dump_server import (
    CutOff,
    DumpServer,
    Fault,
    Garbage,
    GoesOn,
    IgnoreRange,
    Replace,
    Slow,
    Stall,
    Status,
    WithoutLength,
    WrongLength,
    WrongRange,
)
from tests.tools.processes import running, wait_until

USER_AGENT = "corpusmill/test (mail@example.org)"
SIZE = 60_000
CONTENT = random.Random(8).randbytes(SIZE)
OTHER = random.Random(9).randbytes(SIZE)
HASTE = transfer.Patience(
    attempts=3,
    first_wait_seconds=0.01,
    longest_wait_seconds=2.0,
    timeout_seconds=(2.0, 0.7),
    least_bytes=1,
)


class Downloads:
    """Two servers, and a folder that files come to."""

    def __init__(self, site: DumpServer, mirror: DumpServer, folder: Path):
        self.site, self.mirror, self.folder = site, mirror, folder

    def offer(
        self, *faults: Fault, name: str = "dump.xml", content: bytes = CONTENT, **changes: object
    ) -> RemoteFile:
        """A file of both servers; the first GETs at the site meet the faults."""
        for site in (self.site, self.mirror):
            site.put(f"/{name}", content)
        self.site.fail(f"/{name}", *faults)
        urls = (f"{self.site.url}/{name}", f"{self.mirror.url}/{name}")
        checksum = f"sha1:{hashlib.sha1(content).hexdigest()}"
        file = RemoteFile(name, urls, len(content), checksum)
        return file._replace(**changes)  # type: ignore[arg-type]

    def alone(self, *faults: Fault, **changes: object) -> RemoteFile:
        """A file that is asked of the site alone."""
        return alone(self.offer(*faults, **changes))  # type: ignore[arg-type]

    @property
    def etag(self) -> str:
        """Of the file that the site has now."""
        return self.site.files["/dump.xml"].etag

    def start(self, *files: RemoteFile, folder: str = "", **settings: Any) -> list[Path]:
        """Downloads in haste; gives the paths."""
        how: dict[str, Any] = {"user_agent": USER_AGENT, "patience": HASTE} | settings
        return list(map(Path, download(files, str(self.folder / folder), **how)))

    def fetch(self, file: RemoteFile, folder: str = "") -> bytes:
        """Downloads a file, and returns its content."""
        (path,) = self.start(file, folder=folder)
        assert path == self.folder / folder / file.name
        assert not list(path.parent.glob("*.part"))
        return path.read_bytes()

    def names(self) -> set[str]:
        return {path.name for path in self.folder.iterdir() if not path.name.startswith(".")}

    def sizes_of_parts(self) -> dict[str, int]:
        return {path.stem: path.stat().st_size for path in self.folder.glob("*.part")}


def alone(file: RemoteFile) -> RemoteFile:
    return file._replace(urls=file.urls[:1])


@pytest.fixture
def here(tmp_path: Path, mirror: DumpServer) -> Iterator[Downloads]:
    with DumpServer() as site:
        yield Downloads(site, mirror, tmp_path)


Free = Callable[[Callable[[], int]], None]


@pytest.fixture
def free(monkeypatch: pytest.MonkeyPatch) -> Free:
    """Lets so many bytes be free on every disk."""

    def usage(count: Callable[[], int]) -> None:
        monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=count()))

    return usage


def test_files_come_in_their_order(here: Downloads) -> None:
    sizes = (9, 7, 8, 5, 6)
    files = [here.alone(Slow(100), name=f"{one}.sql", content=CONTENT[:one]) for one in sizes]
    counted: list[int] = []
    paths = here.start(*files, folder="new", count_bytes=counted.append)
    assert [path.read_bytes() for path in paths] == [CONTENT[:size] for size in sizes]
    assert here.site.most_at_once == 2
    assert sum(counted) == 35
    assert {one.headers["user-agent"] for one in here.site.requests} == {USER_AGENT}
    assert {one.headers["accept-encoding"] for one in here.site.requests} == {"identity"}


def test_a_cut_off_file_goes_on_where_it_ended(here: Downloads) -> None:
    file = here.alone(CutOff(10), CutOff(20_000), Stall(5_000, 5.0))
    assert here.fetch(file) == CONTENT
    assert here.site.bytes_sent == SIZE  # nothing twice
    first, *others = here.site.asked_for("/dump.xml")
    assert "range" not in first.headers
    assert [one.headers["range"] for one in others] == [f"bytes={n}-" for n in (10, 20010, 25010)]
    assert {one.headers["if-range"] for one in others} == {here.etag}


UNKNOWN = {"size": -1}


@pytest.mark.parametrize(
    ("faults", "changes", "sent"),
    [
        ([CutOff(1000)] * 12, {}, SIZE),  # something comes each time
        ([Garbage()], {}, 2 * SIZE),
        ([CutOff(20_000), Garbage()], {}, 2 * SIZE),  # anew, without a range
        ([CutOff(20_000), IgnoreRange()], {}, SIZE + 20_000),
        ([CutOff(20_000), WrongRange(7)], {}, None),
        ([WithoutLength(20_000)], {}, SIZE),  # its end is no proof
        ([], UNKNOWN, SIZE),
        ([WrongLength(10)], UNKNOWN, SIZE),
        ([CutOff(10_000)], UNKNOWN, SIZE),
        ([Stall(SIZE, 5.0)], UNKNOWN, SIZE),
    ],
)
def test_a_file_comes_whole_from_the_only_server(
    here: Downloads, faults: list[Fault], changes: dict[str, Any], sent: int | None
) -> None:
    assert here.fetch(here.alone(*faults, **changes)) == CONTENT
    assert sent is None or here.site.bytes_sent == sent


def test_the_next_call_goes_on(here: Downloads) -> None:
    file = here.alone(CutOff(20_000), *[Status(503)] * 3)
    with pytest.raises(DownloadError, match=r"dump\.xml from http.*: HTTP 503; 3 attempts"):
        here.fetch(file)
    assert here.names() == {"dump.xml.part"}
    assert here.fetch(file) == CONTENT
    assert here.site.bytes_sent == SIZE + 3 * len(b"not now")


def test_a_killed_download_goes_on(here: Downloads) -> None:
    file = here.alone(Stall(30_000, 120.0))
    code = (
        "import sys; from corpusmill.pipelines.refresh.fetch import download;"
        "from corpusmill.pipelines.refresh.sources import RemoteFile;"
        f"download([{file!r}], sys.argv[1], user_agent='x')"
    )
    with running([sys.executable, "-c", code, str(here.folder)]) as process:
        wait_until(lambda: here.sizes_of_parts() == {"dump.xml": 30_000})
        process.kill()
    assert here.fetch(file) == CONTENT
    assert here.site.bytes_sent == SIZE


@pytest.mark.parametrize(("checksum", "damaged"), [(True, OTHER), (False, CONTENT[:-1])])
def test_what_is_there_is_checked_and_kept(here: Downloads, checksum: bool, damaged: bytes) -> None:
    file = here.alone(**{} if checksum else {"checksum": ""})
    for _ in range(2):
        assert here.fetch(file) == CONTENT
        assert len(here.site.requests) == 1
    (here.folder / "dump.xml").write_bytes(damaged)
    assert here.fetch(file) == CONTENT
    assert len(here.site.requests) == 2


def test_a_wrong_file_comes_from_the_next_mirror(here: Downloads) -> None:
    assert here.fetch(here.offer(Garbage())) == CONTENT
    assert (len(here.site.requests), len(here.mirror.requests)) == (1, 1)
    assert "range" not in here.mirror.requests[0].headers


def test_two_wrong_files_are_an_error_and_are_not_kept(here: Downloads) -> None:
    file = here.offer(Garbage(), Garbage())
    here.mirror.fail("/dump.xml", Garbage(), Garbage())
    with pytest.raises(DownloadError, match="sha1") as caught:
        here.fetch(file._replace(urls=file.urls * 2))
    assert (caught.value.name, caught.value.url) == ("dump.xml", f"{here.mirror.url}/dump.xml")
    assert (len(here.site.requests), len(here.mirror.requests)) == (1, 1)
    assert list(here.folder.iterdir()) == []


def test_a_storm_of_503_is_waited_out_as_long_as_the_server_asks(
    here: Downloads, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr(transfer.Switch, "wait", lambda _, seconds: waits.append(seconds))
    assert here.fetch(here.alone(Status(503, "1"), Status(429))) == CONTENT
    assert (waits[0], len(waits)) == (1.0, 2)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Status(503, "3600"), "HTTP 503; the server asks to wait 3,600 s"),
        (WrongLength(10), "the server offers 60,010 bytes, expected 60,000"),
        (WrongLength(-10), "the server offers 59,990 bytes, expected 60,000"),
    ],
)
def test_a_server_of_no_use_is_left_at_once(here: Downloads, fault: Fault, message: str) -> None:
    file = here.offer(fault, fault)
    assert here.fetch(file) == CONTENT
    with pytest.raises(DownloadError, match=message):
        here.fetch(alone(file), "alone")


def test_mirrors_take_their_turns(here: Downloads) -> None:
    file, url = here.offer(), here.mirror.url
    here.site.remove("/dump.xml")
    assert here.fetch(file) == CONTENT
    here.mirror.remove("/dump.xml")
    with pytest.raises(DownloadError, match=rf"dump\.xml from {url}/dump\.xml: HTTP 404"):
        here.fetch(file, "new")


def test_the_body_of_a_redirect_is_not_read(here: Downloads) -> None:
    location = f"{here.mirror.url}/dump.xml"
    assert here.fetch(here.alone(Status(302, location=location, body_bytes=50_000_000))) == CONTENT
    assert here.site.bytes_sent < 25_000_000  # what lies on the line


def test_a_dead_server_is_no_obstacle(here: Downloads) -> None:
    file = here.offer()
    here.site.__exit__()
    assert here.fetch(file) == CONTENT
    with pytest.raises(DownloadError, match="Connection refused; 3 attempts"):
        here.fetch(alone(file), "alone")


def test_a_mirror_goes_on_with_what_another_began(here: Downloads) -> None:
    assert here.fetch(here.offer(CutOff(40_000), Status(404))) == CONTENT
    assert here.mirror.bytes_sent == 20_000
    assert "if-range" not in here.mirror.requests[0].headers  # its ETags are its own


def test_without_a_checksum_mirrors_are_not_mixed(here: Downloads) -> None:
    file = here.offer(CutOff(40_000), Status(404), checksum="")
    here.mirror.put("/dump.xml", OTHER)
    assert here.fetch(file) == OTHER


def test_a_file_that_is_replaced_meanwhile_is_not_mixed(here: Downloads) -> None:
    assert here.fetch(here.alone(Replace(20_000, OTHER), checksum="")) == OTHER
    assert [request.status for request in here.site.requests] == [200, 200]


def test_a_file_that_was_replaced_since_it_was_found_is_refused(here: Downloads) -> None:
    file = here.alone(Replace(20_000, OTHER), checksum="")
    with pytest.raises(DownloadError, match="replaced the file by another version in the meantime"):
        here.fetch(file._replace(etag=here.etag))
    assert "dump.xml" not in here.names()
    assert here.fetch(file._replace(etag=here.etag)) == OTHER


def test_a_finished_file_of_another_version_is_fetched_anew(here: Downloads) -> None:
    file = here.alone(checksum="")
    assert here.fetch(file._replace(etag=here.etag)) == CONTENT
    here.site.put("/dump.xml", OTHER)
    assert here.fetch(file._replace(etag=here.etag)) == OTHER


def test_bytes_of_another_dump_are_not_gone_on_with(here: Downloads) -> None:
    with pytest.raises(DownloadError):
        here.fetch(here.alone(CutOff(20_000), Status(404)))
    assert here.fetch(here.alone(content=OTHER)) == OTHER
    assert "range" not in here.site.requests[-1].headers


@pytest.mark.parametrize("note", [b'{"url": 1', b'{"url": "\xff"}', b'{"url":' * 9_999])
def test_bytes_that_nothing_is_known_of_are_not_gone_on_with(here: Downloads, note: bytes) -> None:
    file = here.alone()
    (here.folder / "dump.xml.part").write_bytes(OTHER[:100])
    (here.folder / ".dump.xml.json").write_bytes(note)
    assert here.fetch(file) == CONTENT
    assert len(here.site.requests) == 1


@pytest.mark.parametrize(
    ("faults", "size"),
    [
        ([GoesOn(3_000_000)], SIZE),
        ([CutOff(20_000), GoesOn(3_000_000)], SIZE),
        ([CutOff(20_000), GoesOn(3_000_000)], -1),  # Content-Range says it
    ],
)
def test_a_body_that_goes_on_is_not_kept(here: Downloads, faults: list[Fault], size: int) -> None:
    file = here.offer(*faults * 2, size=size)
    source = "expected" if size >= 0 else "announced"
    written: list[int] = []
    with pytest.raises(
        DownloadError, match=f"the server sends more than the 60,000 bytes {source}$"
    ):
        here.start(alone(file), count_bytes=written.append)
    assert sum(written) <= SIZE
    assert here.names() == set()
    assert here.fetch(file) == CONTENT


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (GoesOn(3_000_000), r"the response has no Content-Length; after [\d,]+ bytes, .* has"
         " 0 bytes left besides the 1,073,741,824 that must remain free"),
        (WrongLength(10**12), r"offers 1,000,000,060,000 bytes, but .* has 1,074,741,824 bytes left$"),
    ],
)  # fmt: skip
def test_a_file_of_unknown_size_does_not_fill_the_disk(
    here: Downloads, free: Free, monkeypatch: pytest.MonkeyPatch, fault: Fault, reason: str
) -> None:
    file, most = here.offer(fault, fault, size=-1), [0]

    def room() -> int:
        most.append(sum(here.sizes_of_parts().values()))
        return (1 << 30) + 1_000_000 - most[-1]

    free(room)
    monkeypatch.setattr(transfer, "_LOOK_BYTES", 100_000, raising=False)
    with pytest.raises(DownloadError, match=reason):
        here.fetch(alone(file))
    assert max(most) < 1_500_000
    assert here.names() <= {"dump.xml.part"}
    assert not sum(here.sizes_of_parts().values())
    assert here.fetch(file) == CONTENT


def test_a_disk_that_others_fill_is_not_filled_up(here: Downloads, free: Free) -> None:
    room = iter((100_000, 99_000))  # before anything is asked, and at the first bytes
    free(lambda: next(room))
    reason = (
        "disk is full: .* has 59,000 bytes left besides the 40,000 .*; 0 of 60,000 bytes are kept"
    )
    with pytest.raises(DiskFullError, match=reason):
        here.start(here.alone(), min_free_bytes=40_000)


def test_what_only_wants_checking_is_not_asked_for(here: Downloads) -> None:
    file = here.alone()
    part = DiskPart(str(here.folder), file)
    part.begin(Note(file.urls[0], "", "", file.checksum, SIZE))
    part.part.write_bytes(CONTENT)
    assert here.fetch(file) == CONTENT
    assert here.site.requests == []


@pytest.mark.parametrize("suffix", ["", ".part"])
def test_an_interruption_does_not_wait_for_a_checksum(
    here: Downloads, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part_files, "_HASHED_BYTES", 1_000)
    file = here.alone()
    DiskPart(str(here.folder), file).begin(Note(file.urls[0], "", "", file.checksum, SIZE))
    whole = here.folder / f"dump.xml{suffix}"
    whole.write_bytes(CONTENT)
    switch, checks = transfer.Switch(), []

    def check() -> None:
        checks.append(1)
        if len(checks) == 5:
            switch.turn_off()
        transfer.Switch.check(switch)

    monkeypatch.setattr(switch, "check", check)
    with plain_session(USER_AGENT) as session, pytest.raises(transfer.InterruptedTransferError):
        transfer.Transfer(
            DiskPart(str(here.folder), file), session, HASTE, switch, lambda _: None
        ).run()
    assert whole.read_bytes() == CONTENT


def test_an_endless_liar_is_given_up(here: Downloads) -> None:
    lies: list[Fault] = [WrongRange(3), CutOff(20_000)]
    with pytest.raises(DownloadError, match="3 attempts without progress"):
        here.fetch(here.alone(CutOff(20_000), *lies * 10))


def zip_of(**members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("books.zip", b"<html>Come back later</html>", "cannot be opened"),
        ("books.zip", zip_of(), "is an archive without files"),
        ("books.zip", zip_of(a=CONTENT)[:-100], "cannot be opened"),
        ("news.gz", b"<html>Come back later</html>", r"is not a \.gz file"),
        ("catalog.csv", b"", "is empty"),
        ("books.zip", zip_of(a=CONTENT), ""),
    ],
)
def test_without_a_checksum_an_archive_must_open(
    here: Downloads, name: str, content: bytes, reason: str
) -> None:
    file = here.alone(name=name, content=content, checksum="")
    if not reason:
        assert here.fetch(file) == content
        return
    with pytest.raises(DownloadError, match=f"the downloaded file {reason}"):
        here.fetch(file)
    assert here.names() == set()


def test_one_failure_does_not_stop_the_others(here: Downloads) -> None:
    files = [here.alone(name=name) for name in ("a", "b", "c", "d")]
    here.site.remove("/a")
    here.site.remove("/c")
    with pytest.raises(DownloadError, match=r"^a from .*HTTP 404 \(1 more of 4 files failed\)"):
        here.start(*files)
    assert here.names() == {"b", "d"}


def test_room_is_looked_for_before_anything_is_asked(here: Downloads, free: Free) -> None:
    files = [here.alone(), here.alone(name="other")]
    free(lambda: 100_000)
    with pytest.raises(DiskFullError, match="120,000 more bytes are needed, 100,000 are free"):
        here.start(*files)
    with pytest.raises(
        DiskFullError, match=r"60,000 more .* 59,999 are free beyond min_free_bytes \(40,001\)"
    ):
        here.start(files[0], min_free_bytes=40_001)
    assert here.site.requests == []
    # What is there needs no room again.
    (here.folder / "dump.xml.part").write_bytes(CONTENT[:30_000])
    assert len(here.start(*files)) == 2


@pytest.fixture
def disk(here: Downloads, free: Free) -> Iterator[Path]:
    """The folder has room for 64 KiB, and is not asked about it."""
    free(lambda: 10**9)
    here.folder /= "disk"
    with small_disk(here.folder, "64k"):
        yield here.folder


def test_a_full_disk_ends_it_and_the_next_call_goes_on(here: Downloads, disk: Path) -> None:
    filling = disk / "of somebody else"
    filling.write_bytes(bytes(16_384))
    file = here.alone()
    with pytest.raises(DiskFullError, match=r"no space is left in .*/disk; [\d,]+ of 60,000 bytes"):
        here.fetch(file)
    come = here.sizes_of_parts()["dump.xml"]
    assert 0 < come < SIZE
    filling.unlink()
    assert here.fetch(file) == CONTENT
    assert here.site.requests[-1].headers["range"] == f"bytes={come}-"


def test_several_files_that_fill_the_disk_are_one_error(here: Downloads, disk: Path) -> None:
    (disk / "of somebody else").write_bytes(bytes(40_000))
    with pytest.raises(DiskFullError) as raised:
        here.start(here.alone(name="a.xml"), here.alone(name="b.xml"), connections=2)
    assert is_disk_full(raised.value)


def test_an_interruption_does_not_wait_for_silent_servers(here: Downloads) -> None:
    files = [here.alone(Stall(10_000, 30.0), name=name) for name in ("a", "b", "c")]
    both = {"a": 10_000, "b": 10_000}

    def interrupt(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    def when_both_are_silent() -> None:
        wait_until(lambda: here.sizes_of_parts() == both)
        os.kill(os.getpid(), signal.SIGALRM)

    before = signal.signal(signal.SIGALRM, interrupt)
    watcher = threading.Thread(target=when_both_are_silent)
    try:
        watcher.start()
        with pytest.raises(KeyboardInterrupt):
            download(files, str(here.folder), user_agent=USER_AGENT)
    finally:
        watcher.join()
        signal.signal(signal.SIGALRM, before)
    wait_until(lambda: here.site.clients_gone == 2)  # while it was silent
    assert here.sizes_of_parts() == both
    assert here.site.asked_for("/c") == []


@pytest.mark.parametrize("seed", range(12))
def test_whatever_happens_nothing_wrong_gets_the_name(here: Downloads, seed: int) -> None:
    chance = random.Random(seed)

    def misfortune() -> Fault:
        kinds = (
            CutOff(chance.randrange(SIZE)),
            CutOff(0),
            Status(chance.choice((500, 503, 429, 404))),
            Garbage(),
            IgnoreRange(),
            WrongLength(chance.choice((-5, 5))),
            Stall(chance.randrange(SIZE), 0.5),
            WrongRange(1),
        )
        return chance.choice(kinds)

    file = here.offer()
    for one in (here.site, here.mirror):
        one.fail("/dump.xml", *[misfortune() for _ in range(chance.randrange(12))])
    for _ in range(14):
        try:
            content = here.fetch(file)
        except DownloadError:
            assert "dump.xml" not in here.names()
        else:
            assert content == CONTENT
            return
    pytest.fail("the site had long recovered")


def test_settings_that_cannot_be_are_refused(here: Downloads) -> None:
    file = here.alone()
    for wrong, message in (
        ([file._replace(name="../dump.xml")], "is not the name of a file"),
        ([file._replace(name=".dump.xml")], "is not the name of a file"),
        ([file._replace(checksum="crc32:00")], "expected one of sha1"),
        ([file, file], "two of the files to download have the same name"),
    ):
        with pytest.raises(ValueError, match=message):
            here.start(*wrong)
    with pytest.raises(ValueError, match="connections must be at least 1, got 0"):
        here.start(file, connections=0)
    (here.folder / "taken").write_text("a file")
    with pytest.raises(DownloadError, match="taken: the folder cannot be created"):
        here.start(file, folder="taken")


def test_the_log_tells_how_far_it_is(
    here: Downloads, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(transfer, "LOG_SECONDS", 0.1)
    caplog.set_level(logging.INFO)
    here.fetch(here.alone(Slow(150_000)))
    assert "0 of 1 files are complete: 0 of 0 MB" in caplog.text


def test_a_terminal_shows_a_bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100)
    monkeypatch.setattr(transfer, "new_console", lambda stderr: console)
    part = DiskPart(str(tmp_path), RemoteFile("dump.xml", (), SIZE))
    with transfer.shown([part]):
        part.begin(Note("", "", "", "", SIZE))
        part.part.write_bytes(CONTENT[:30_000])
    assert "0 of 1 files are complete" in screen.getvalue()
    assert "30.0/60.0 kB" in screen.getvalue()
