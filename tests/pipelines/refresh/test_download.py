"""Downloads from a site that misbehaves. What is there under its name is always whole."""

import hashlib
import io
import logging
import os
import random
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType, SimpleNamespace

import pytest
from rich.console import Console

from pipelines.refresh import part_file, show_downloads, transfer
from pipelines.refresh.ask import plain_session
from pipelines.refresh.download import download
from pipelines.refresh.failures import is_disk_full
from pipelines.refresh.part_file import Note, PartFile
from pipelines.refresh.remote import DiskFullError, DownloadError, RemoteFile
from pipelines.refresh.transfer import InterruptedTransferError, Patience, Switch, Transfer
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

USER_AGENT = "corpusmill/test (mail@example.org)"
SIZE = 60_000
CONTENT = random.Random(8).randbytes(SIZE)
OTHER = random.Random(9).randbytes(SIZE)
HASTE = Patience(
    attempts=3, first_wait_seconds=0.01, longest_wait_seconds=2.0, timeout_seconds=(2.0, 0.7)
)


@pytest.fixture
def site() -> Iterator[DumpServer]:
    with DumpServer() as site:
        yield site


@pytest.fixture
def mirror() -> Iterator[DumpServer]:
    with DumpServer() as site:
        yield site


def offer(
    *sites: DumpServer, name: str = "dump.xml", content: bytes = CONTENT, checksum: bool = True
) -> RemoteFile:
    """A file that all the sites have."""
    for site in sites:
        site.put(f"/{name}", content)
    sha1 = f"sha1:{hashlib.sha1(content).hexdigest()}" if checksum else ""
    return RemoteFile(name, tuple(f"{site.url}/{name}" for site in sites), len(content), sha1)


def fetch(file: RemoteFile, folder: Path, patience: Patience = HASTE) -> bytes:
    (path,) = download([file], folder, user_agent=USER_AGENT, patience=patience)
    assert path == folder / file.name
    assert not list(folder.glob("*.part"))
    return path.read_bytes()


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def sizes_of_parts(folder: Path) -> dict[str, int]:
    return {path.stem: path.stat().st_size for path in folder.glob("*.part")}


def test_files_come_in_their_order(site: DumpServer, tmp_path: Path) -> None:
    files = [offer(site, name=f"{name}.sql", content=CONTENT[:name]) for name in (9, 7, 8, 5, 6)]
    for file in files:
        site.fail(f"/{file.name}", Slow(100))
    counted: list[int] = []
    paths = download(
        files, tmp_path / "new", user_agent=USER_AGENT, patience=HASTE, count_bytes=counted.append
    )
    assert [path.read_bytes() for path in paths] == [CONTENT[:size] for size in (9, 7, 8, 5, 6)]
    assert site.most_at_once == 2
    assert sum(counted) == 35
    assert {request.headers["user-agent"] for request in site.requests} == {USER_AGENT}
    assert {request.headers["accept-encoding"] for request in site.requests} == {"identity"}


def test_a_cut_off_file_goes_on_where_it_ended(site: DumpServer, tmp_path: Path) -> None:
    file = offer(site)
    site.fail("/dump.xml", CutOff(10), CutOff(20_000), Stall(5_000, 5.0))
    assert fetch(file, tmp_path) == CONTENT
    assert site.bytes_sent == SIZE  # nothing twice
    first, *others = site.asked_for("/dump.xml")
    assert "range" not in first.headers
    assert [one.headers["range"] for one in others] == [
        "bytes=10-",
        "bytes=20010-",
        "bytes=25010-",
    ]
    etag = site.files["/dump.xml"].etag
    assert {one.headers["if-range"] for one in others} == {etag}


def test_many_cuts_do_no_harm_while_something_comes(site: DumpServer, tmp_path: Path) -> None:
    file = offer(site)
    site.fail("/dump.xml", *[CutOff(1000)] * 12)
    assert fetch(file, tmp_path) == CONTENT


def test_the_next_call_goes_on(site: DumpServer, tmp_path: Path) -> None:
    file = offer(site)
    site.fail("/dump.xml", CutOff(20_000), *[Status(503)] * 3)
    with pytest.raises(DownloadError, match=r"dump\.xml from http.*: HTTP 503; 3 attempts"):
        fetch(file, tmp_path)
    assert names_in(tmp_path) == {"dump.xml.part"}
    assert fetch(file, tmp_path) == CONTENT
    assert site.bytes_sent == SIZE + 3 * len(b"not now")


def test_a_killed_download_goes_on(site: DumpServer, tmp_path: Path) -> None:
    file = offer(site)
    site.fail("/dump.xml", Stall(30_000, 60.0))
    code = (
        "import sys, pathlib; from pipelines.refresh.download import download;"
        "from pipelines.refresh.remote import RemoteFile;"
        f"download([{file!r}], pathlib.Path(sys.argv[1]), user_agent='x')"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) as process:
        part = tmp_path / "dump.xml.part"
        end = time.monotonic() + 30
        while time.monotonic() < end and not (part.exists() and part.stat().st_size == 30_000):
            time.sleep(0.02)
        process.kill()
    assert part.stat().st_size == 30_000
    assert fetch(file, tmp_path) == CONTENT
    assert site.bytes_sent == SIZE


def test_what_is_there_is_checked_and_kept(site: DumpServer, tmp_path: Path) -> None:
    file = offer(site)
    fetch(file, tmp_path)
    assert fetch(file, tmp_path) == CONTENT
    assert len(site.requests) == 1
    (tmp_path / "dump.xml").write_bytes(OTHER)
    assert fetch(file, tmp_path) == CONTENT
    assert len(site.requests) == 2


def test_without_a_checksum_the_size_is_checked(site: DumpServer, tmp_path: Path) -> None:
    file = offer(site, checksum=False)
    assert fetch(file, tmp_path) == CONTENT
    (tmp_path / "dump.xml").write_bytes(CONTENT[:-1])
    assert fetch(file, tmp_path) == CONTENT


def test_one_byte_that_is_wrong_is_found(site: DumpServer, tmp_path: Path) -> None:
    file = offer(site)
    site.put("/dump.xml", CONTENT[:-1] + bytes([CONTENT[-1] ^ 1]))
    with pytest.raises(DownloadError, match=r"what came has the sha1 .* is right"):
        fetch(file, tmp_path)


def test_a_wrong_file_comes_from_the_next_mirror(
    site: DumpServer, mirror: DumpServer, tmp_path: Path
) -> None:
    file = offer(site, mirror)
    site.fail("/dump.xml", Garbage())
    assert fetch(file, tmp_path) == CONTENT
    assert (len(site.requests), len(mirror.requests)) == (1, 1)
    assert "range" not in mirror.requests[0].headers


def test_a_wrong_file_comes_once_more_from_the_only_server(
    site: DumpServer, tmp_path: Path
) -> None:
    file = offer(site)
    site.fail("/dump.xml", Garbage())
    assert fetch(file, tmp_path) == CONTENT
    assert len(site.requests) == 2


def test_two_wrong_files_are_an_error_and_are_not_kept(
    site: DumpServer, mirror: DumpServer, tmp_path: Path
) -> None:
    file = offer(site, mirror)._replace(urls=(f"{site.url}/dump.xml", f"{mirror.url}/dump.xml") * 2)
    site.fail("/dump.xml", Garbage(), Garbage())
    mirror.fail("/dump.xml", Garbage(), Garbage())
    with pytest.raises(DownloadError, match="sha1") as caught:
        fetch(file, tmp_path)
    assert (caught.value.name, caught.value.url) == ("dump.xml", f"{mirror.url}/dump.xml")
    assert (len(site.requests), len(mirror.requests)) == (1, 1)
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_end_of_a_resumed_file_is_fetched_anew(site: DumpServer, tmp_path: Path) -> None:
    file = offer(site)
    site.fail("/dump.xml", CutOff(20_000), Garbage())
    assert fetch(file, tmp_path) == CONTENT
    assert "range" not in site.requests[-1].headers


def test_a_storm_of_503_is_waited_out_as_long_as_the_server_asks(
    site: DumpServer, tmp_path: Path
) -> None:
    file = offer(site)
    site.fail("/dump.xml", Status(503, "1"), Status(429))
    start = time.monotonic()
    assert fetch(file, tmp_path) == CONTENT
    assert time.monotonic() - start >= 1.0


def test_a_server_that_asks_for_too_long_a_wait_is_left(
    site: DumpServer, mirror: DumpServer, tmp_path: Path
) -> None:
    file = offer(site, mirror)
    site.fail("/dump.xml", Status(503, "3600"))
    assert fetch(file, tmp_path) == CONTENT
    site.fail("/dump.xml", Status(503, "3600"))
    with pytest.raises(DownloadError, match="HTTP 503; it asks to wait 3,600 s"):
        fetch(file._replace(urls=file.urls[:1]), tmp_path / "alone")


def test_mirrors_take_their_turns(site: DumpServer, mirror: DumpServer, tmp_path: Path) -> None:
    file = offer(site, mirror)
    site.remove("/dump.xml")
    assert fetch(file, tmp_path) == CONTENT
    mirror.remove("/dump.xml")
    with pytest.raises(DownloadError, match=rf"dump\.xml from {mirror.url}/dump\.xml: HTTP 404"):
        fetch(file, tmp_path / "new")


def test_the_body_of_a_redirect_is_not_read(
    site: DumpServer, mirror: DumpServer, tmp_path: Path
) -> None:
    file = offer(site, mirror)
    site.fail("/dump.xml", Status(302, location=file.urls[1], body_bytes=50_000_000))
    assert fetch(file._replace(urls=file.urls[:1]), tmp_path) == CONTENT
    assert site.bytes_sent < 25_000_000  # what lies on the line


def test_a_dead_server_is_no_obstacle(site: DumpServer, mirror: DumpServer, tmp_path: Path) -> None:
    file = offer(site, mirror)
    site.__exit__()
    assert fetch(file, tmp_path) == CONTENT
    with pytest.raises(DownloadError, match="Connection refused; 3 attempts"):
        fetch(file._replace(urls=file.urls[:1]), tmp_path / "alone")


def test_a_mirror_goes_on_with_what_another_began(
    site: DumpServer, mirror: DumpServer, tmp_path: Path
) -> None:
    file = offer(site, mirror)
    site.fail("/dump.xml", CutOff(40_000), Status(404))
    assert fetch(file, tmp_path) == CONTENT
    assert mirror.bytes_sent == 20_000
    assert "if-range" not in mirror.requests[0].headers  # its ETags are its own


def test_without_a_checksum_mirrors_are_not_mixed(
    site: DumpServer, mirror: DumpServer, tmp_path: Path
) -> None:
    file = offer(site, mirror, checksum=False)
    mirror.put("/dump.xml", OTHER)
    site.fail("/dump.xml", CutOff(40_000), Status(404))
    assert fetch(file, tmp_path) == OTHER


def test_a_file_that_is_replaced_meanwhile_is_not_mixed(site: DumpServer, tmp_path: Path) -> None:
    file = offer(site, checksum=False)
    site.fail("/dump.xml", Replace(20_000, OTHER))
    assert fetch(file, tmp_path) == OTHER
    assert [request.status for request in site.requests] == [200, 200]


def test_a_file_that_was_replaced_since_it_was_found_is_refused(
    site: DumpServer, tmp_path: Path
) -> None:
    file = offer(site, checksum=False)._replace(etag=site.files["/dump.xml"].etag)
    site.fail("/dump.xml", Replace(20_000, OTHER))
    with pytest.raises(DownloadError, match="replaced by another version since it was found"):
        fetch(file, tmp_path)
    assert "dump.xml" not in names_in(tmp_path)
    assert fetch(file._replace(etag=site.files["/dump.xml"].etag), tmp_path) == OTHER


def test_a_finished_file_of_another_version_is_fetched_anew(
    site: DumpServer, tmp_path: Path
) -> None:
    file = offer(site, checksum=False)._replace(etag=site.files["/dump.xml"].etag)
    assert fetch(file, tmp_path) == CONTENT
    site.put("/dump.xml", OTHER)
    assert fetch(file._replace(etag=site.files["/dump.xml"].etag), tmp_path) == OTHER


def test_bytes_of_another_dump_are_not_gone_on_with(site: DumpServer, tmp_path: Path) -> None:
    file = offer(site)
    site.fail("/dump.xml", CutOff(20_000), Status(404))
    with pytest.raises(DownloadError):
        fetch(file, tmp_path)
    assert fetch(offer(site, content=OTHER), tmp_path) == OTHER
    assert "range" not in site.requests[-1].headers


def test_bytes_that_nothing_is_known_of_are_not_gone_on_with(
    site: DumpServer, tmp_path: Path
) -> None:
    file = offer(site)
    (tmp_path / "dump.xml.part").write_bytes(OTHER[:100])
    (tmp_path / ".dump.xml.json").write_bytes(b'{"url": 1')
    assert fetch(file, tmp_path) == CONTENT
    assert len(site.requests) == 1


@pytest.mark.parametrize("fault", [IgnoreRange(), WrongRange(7)])
def test_a_server_without_ranges_begins_anew(
    site: DumpServer, tmp_path: Path, fault: Fault
) -> None:
    file = offer(site)
    site.fail("/dump.xml", CutOff(20_000), fault)
    assert fetch(file, tmp_path) == CONTENT


@pytest.mark.parametrize("more", [10, -10])
def test_a_length_that_is_not_that_of_the_file_is_refused_at_once(
    site: DumpServer, mirror: DumpServer, tmp_path: Path, more: int
) -> None:
    file = offer(site, mirror)
    site.fail("/dump.xml", WrongLength(more), WrongLength(more))
    assert fetch(file, tmp_path) == CONTENT
    alone = file._replace(urls=file.urls[:1])
    offered = f"it offers {SIZE + more:,} bytes, 60,000 are right"
    with pytest.raises(DownloadError, match=offered):
        fetch(alone, tmp_path / "alone")


@pytest.mark.parametrize("faults", [[], [WrongLength(10)], [CutOff(10_000)], [Stall(SIZE, 5.0)]])
def test_a_file_of_unknown_size_comes_too(
    site: DumpServer, tmp_path: Path, faults: list[Fault]
) -> None:
    file = offer(site)._replace(size=-1)
    site.fail("/dump.xml", *faults)
    assert fetch(file, tmp_path) == CONTENT
    assert site.bytes_sent == SIZE


def test_an_end_without_a_length_is_no_proof(site: DumpServer, tmp_path: Path) -> None:
    file = offer(site)
    site.fail("/dump.xml", WithoutLength(20_000))
    assert fetch(file, tmp_path) == CONTENT
    assert site.bytes_sent == SIZE


@pytest.mark.parametrize(
    ("faults", "size"),
    [
        ([GoesOn(3_000_000)], SIZE),
        ([CutOff(20_000), GoesOn(3_000_000)], SIZE),
        ([CutOff(20_000), GoesOn(3_000_000)], -1),  # Content-Range says it
    ],
)
def test_a_body_that_goes_on_is_not_kept(
    site: DumpServer, mirror: DumpServer, tmp_path: Path, faults: list[Fault], size: int
) -> None:
    file = offer(site, mirror)._replace(size=size)
    source = "are right" if size >= 0 else "it offers"
    site.fail("/dump.xml", *faults)
    written: list[int] = []
    with pytest.raises(DownloadError, match=f"it sends more than the 60,000 bytes that {source}$"):
        download(
            [file._replace(urls=file.urls[:1])],
            tmp_path,
            user_agent=USER_AGENT,
            patience=HASTE,
            count_bytes=written.append,
        )
    assert sum(written) <= SIZE
    assert names_in(tmp_path) == set()
    site.fail("/dump.xml", *faults)
    assert fetch(file, tmp_path) == CONTENT


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (GoesOn(3_000_000), r"it names no size, [\d,]+ bytes have come, and .* has"
         " 0 bytes left beside 1,073,741,824 that are to be kept"),
        (WrongLength(10**12), "it offers 1,000,000,060,000 bytes, and .* has 1,074,741,824 bytes left$"),
    ],
)  # fmt: skip
def test_a_file_of_unknown_size_does_not_fill_the_disk(
    site: DumpServer,
    mirror: DumpServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fault: Fault,
    reason: str,
) -> None:
    file = offer(site, mirror)._replace(size=-1)
    most = [0]

    def disk_usage(_: object) -> SimpleNamespace:
        most.append(sum(sizes_of_parts(tmp_path).values()))
        return SimpleNamespace(free=(1 << 30) + 1_000_000 - most[-1])

    monkeypatch.setattr("shutil.disk_usage", disk_usage)
    monkeypatch.setattr(transfer, "_LOOK_BYTES", 100_000, raising=False)
    site.fail("/dump.xml", fault, fault)
    with pytest.raises(DownloadError, match=reason):
        fetch(file._replace(urls=file.urls[:1]), tmp_path)
    assert max(most) < 1_500_000
    assert names_in(tmp_path) <= {"dump.xml.part"}
    assert not sum(sizes_of_parts(tmp_path).values())
    assert fetch(file, tmp_path) == CONTENT


def test_a_disk_that_others_fill_is_not_filled_up(
    site: DumpServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = offer(site)
    room = iter((100_000, 99_000))  # before anything is asked, and at the first bytes
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=next(room)))
    reason = "disk is full: .* has 59,000 bytes left beside 40,000 .*; 0 of 60,000 bytes are there"
    with pytest.raises(DiskFullError, match=reason):
        download([file], tmp_path, user_agent=USER_AGENT, patience=HASTE, min_free_bytes=40_000)


def test_what_only_wants_checking_is_not_asked_for(site: DumpServer, tmp_path: Path) -> None:
    file = offer(site)
    part = PartFile(tmp_path, file)
    part.begin(Note(file.urls[0], "", "", file.checksum, SIZE))
    part.part.write_bytes(CONTENT)
    assert fetch(file, tmp_path) == CONTENT
    assert site.requests == []


@pytest.mark.parametrize("suffix", ["", ".part"])
def test_an_interruption_does_not_wait_for_a_checksum(
    site: DumpServer, tmp_path: Path, suffix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part_file, "_HASHED_BYTES", 1_000)
    file = offer(site)
    PartFile(tmp_path, file).begin(Note(file.urls[0], "", "", file.checksum, SIZE))
    whole = tmp_path / f"dump.xml{suffix}"
    whole.write_bytes(CONTENT)
    switch, checks = Switch(), []

    def check() -> None:
        checks.append(1)
        if len(checks) == 5:
            switch.turn_off()
        Switch.check(switch)

    monkeypatch.setattr(switch, "check", check)
    with plain_session(USER_AGENT) as session, pytest.raises(InterruptedTransferError):
        Transfer(
            file, tmp_path, session, patience=HASTE, switch=switch, count_bytes=lambda _: None
        ).run()
    assert whole.read_bytes() == CONTENT


def test_an_endless_liar_is_given_up(site: DumpServer, tmp_path: Path) -> None:
    file = offer(site)
    lies: list[Fault] = [WrongRange(3), CutOff(20_000)]
    site.fail("/dump.xml", CutOff(20_000), *lies * 10)
    with pytest.raises(DownloadError, match="3 attempts brought nothing"):
        fetch(file, tmp_path)


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
        ("news.gz", b"<html>Come back later</html>", r"is no \.gz file"),
        ("catalog.csv", b"", "is empty"),
    ],
)
def test_without_a_checksum_an_archive_must_open(
    site: DumpServer, tmp_path: Path, name: str, content: bytes, reason: str
) -> None:
    file = offer(site, name=name, content=content, checksum=False)
    with pytest.raises(DownloadError, match=f"what came {reason}"):
        fetch(file, tmp_path)
    assert names_in(tmp_path) == set()


def test_an_archive_that_opens_is_taken(site: DumpServer, tmp_path: Path) -> None:
    content = zip_of(a=CONTENT)
    file = offer(site, name="books.zip", content=content, checksum=False)
    assert fetch(file, tmp_path) == content


def test_one_failure_does_not_stop_the_others(site: DumpServer, tmp_path: Path) -> None:
    files = [offer(site, name=name) for name in ("a", "b", "c", "d")]
    site.remove("/a")
    site.remove("/c")
    with pytest.raises(DownloadError, match=r"^a from .*HTTP 404 \(and so 1 more of 4 files\)"):
        download(files, tmp_path, user_agent=USER_AGENT, patience=HASTE)
    assert names_in(tmp_path) == {"b", "d"}


def test_room_is_looked_for_before_anything_is_asked(
    site: DumpServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [offer(site), offer(site, name="other")]
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=100_000))
    with pytest.raises(DiskFullError, match="120,000 more bytes are needed, 100,000 are free"):
        download(files, tmp_path, user_agent=USER_AGENT, patience=HASTE)
    with pytest.raises(DiskFullError, match=r"60,000 more .* 59,999 are free, 40,001 of the free"):
        download(files[:1], tmp_path, user_agent=USER_AGENT, patience=HASTE, min_free_bytes=40_001)
    assert site.requests == []
    # What is there needs no room again.
    (tmp_path / "dump.xml.part").write_bytes(CONTENT[:30_000])
    assert len(download(files, tmp_path, user_agent=USER_AGENT, patience=HASTE)) == 2


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if os.geteuid() or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this user may not mount a small disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_a_full_disk_ends_it_and_the_next_call_goes_on(
    site: DumpServer, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filling = small_disk / "of somebody else"
    filling.write_bytes(bytes(16_384))
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=10**9))
    file = offer(site)
    with pytest.raises(DiskFullError, match=r"no space is left in .*/disk; [\d,]+ of 60,000 bytes"):
        fetch(file, small_disk)
    come = (small_disk / "dump.xml.part").stat().st_size
    assert 0 < come < SIZE
    filling.unlink()
    assert fetch(file, small_disk) == CONTENT
    assert site.requests[-1].headers["range"] == f"bytes={come}-"


def test_a_full_disk_is_told_of_as_one_however_many_files_ran_into_it(
    site: DumpServer, small_disk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (small_disk / "of somebody else").write_bytes(bytes(40_000))
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=10**9))
    files = [offer(site, name=name) for name in ("a.xml", "b.xml")]
    with pytest.raises(DiskFullError) as raised:
        download(files, small_disk, user_agent=USER_AGENT, patience=HASTE, connections=2)
    assert is_disk_full(raised.value)


def test_an_interruption_does_not_wait_for_silent_servers(site: DumpServer, tmp_path: Path) -> None:
    files = [offer(site, name=name) for name in ("a", "b", "c")]
    for file in files:
        site.fail(f"/{file.name}", Stall(10_000, 30.0))

    def interrupt(_: int, __: FrameType | None) -> None:
        raise KeyboardInterrupt

    def when_both_are_silent() -> None:
        end = time.monotonic() + 30
        while time.monotonic() < end and sizes_of_parts(tmp_path) != {"a": 10_000, "b": 10_000}:
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGALRM)

    before = signal.signal(signal.SIGALRM, interrupt)
    watcher = threading.Thread(target=when_both_are_silent)
    start = time.monotonic()
    try:
        watcher.start()
        with pytest.raises(KeyboardInterrupt):
            download(files, tmp_path, user_agent=USER_AGENT)
    finally:
        watcher.join()
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - start < 15
    assert sizes_of_parts(tmp_path) == {"a": 10_000, "b": 10_000}
    assert site.asked_for("/c") == []


@pytest.mark.parametrize("seed", range(12))
def test_whatever_happens_nothing_wrong_gets_the_name(
    site: DumpServer, mirror: DumpServer, tmp_path: Path, seed: int
) -> None:
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

    file = offer(site, mirror)
    for one in (site, mirror):
        one.fail("/dump.xml", *[misfortune() for _ in range(chance.randrange(12))])
    for _ in range(14):
        try:
            content = fetch(file, tmp_path)
        except DownloadError:
            assert "dump.xml" not in names_in(tmp_path)
        else:
            assert content == CONTENT
            return
    pytest.fail("the site had long recovered")


def test_settings_that_cannot_be_are_refused(site: DumpServer, tmp_path: Path) -> None:
    file = offer(site)
    for wrong, message in (
        ([file._replace(name="../dump.xml")], "is no name of a file"),
        ([file._replace(name=".dump.xml")], "is no name of a file"),
        ([file._replace(checksum="crc32:00")], "no known kind of checksum"),
        ([file, file], "two files have one name"),
    ):
        with pytest.raises(ValueError, match=message):
            download(wrong, tmp_path, user_agent=USER_AGENT)
    with pytest.raises(ValueError, match="connections is 0"):
        download([file], tmp_path, user_agent=USER_AGENT, connections=0)
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(DownloadError, match="taken: cannot be made"):
        download([file], tmp_path / "taken", user_agent=USER_AGENT)


def test_the_log_tells_how_far_it_is(
    site: DumpServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(show_downloads, "LOG_SECONDS", 0.1)
    caplog.set_level(logging.INFO)
    site.fail("/dump.xml", Slow(150_000))
    fetch(offer(site), tmp_path)
    assert "0 of 1 files are there: 0 of 0 MB" in caplog.text


def test_a_terminal_shows_a_bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=100)
    monkeypatch.setattr(show_downloads, "Console", lambda stderr: console)
    part = PartFile(tmp_path, RemoteFile("dump.xml", (), SIZE))
    with show_downloads.shown([part]):
        part.begin(Note("", "", "", "", SIZE))
        part.part.write_bytes(CONTENT[:30_000])
    assert "0 of 1 files are there" in screen.getvalue()
    assert "30.0/60.0 kB" in screen.getvalue()
