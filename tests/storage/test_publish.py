"""A build on a store is published whole or not at all, whatever happens to its process."""

import hashlib
import os
import re
import signal
import threading
import time
from typing import Any

import pytest
import yaml

from corpusmill.pipelines.run import editions, publish
from corpusmill.pipelines.run import editions as folder_cards
from corpusmill.pipelines.run.publish import TargetError, building, is_completed
from corpusmill.transforms.files.builds.finished_builds import find_folders, open_build
from corpusmill.transforms.files.builds.manifest import COMPLETED, to_json
from corpusmill.transforms.files.markup import hub_head
from corpusmill.transforms.files.scratch import SCRATCH
from corpusmill.transforms.files.stores import StoreError, put_if, read_object
from corpusmill.transforms.files.write_files import write_text
from tests.makers.finished_builds import facts_of
from tests.storage import processes
from tests.storage.stores import Store, names_below, names_beside, read, tree_of, write

pytestmark = pytest.mark.storage

_PLAIN = str.maketrans("[] ", "---")
MANIFEST = '{"corpus": "c", "edition": "e", "dump_date": "1", "version": "1", "signature": "", '


@pytest.fixture
def target(store: Store, request: pytest.FixtureRequest) -> str:
    """A folder of its own for every test."""
    return store.path(request.node.name.translate(_PLAIN), "wiki40b", "1.0.0")


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regards a build as dead that has not been heard of for three seconds."""
    monkeypatch.setattr(publish, "BEAT_SECONDS", 0.3)
    monkeypatch.setattr(publish, "DEAD_SECONDS", 3.0)


def write_build(folder: str, content: str, more: int = 0) -> None:
    write_text(folder, "rejected/r.parquet", content)
    write_text(folder, "empty.tfrecord", "")
    for number in range(more):
        write_text(folder, f"more/{number}", content)
    write(f"{folder}/{SCRATCH}/piece", b"large")
    write_text(folder, "manifest.json", f'{MANIFEST}"outputs": [], "note": "{content}"}}')


def make(target: str, content: str = "new", *, replace: bool = False, more: int = 0) -> None:
    with building(target, replace=replace) as folder:
        write_build(folder, content, more)


def content_of(target: str) -> str:
    """Of a whole build."""
    assert is_completed(target)
    build = open_build(target)
    files = tree_of(target)
    assert files.pop("empty.tfrecord") == b""
    content = files.pop("rejected/r.parquet").decode()
    assert build.manifest["note"] == content
    assert {name for name in files if not name.startswith("more/")} == {"manifest.json", COMPLETED}
    return content


def test_a_build_appears_with_its_mark(target: str) -> None:
    with building(target) as folder:
        write_build(folder, "new", more=30)  # more than are moved at once
        assert names_below(target) == []
        assert not is_completed(target)
        with pytest.raises(Exception, match="no finished build"):
            find_folders([target.rpartition("/")[0]])
    assert content_of(target) == "new"
    assert len(names_below(f"{target}/more")) == 30
    digest = hashlib.sha256(read(f"{target}/manifest.json")).hexdigest()
    assert read(f"{target}/COMPLETED").decode() == f"{digest}  manifest.json\n"
    assert names_beside(target) == []


def test_a_build_that_fails_leaves_nothing(target: str) -> None:
    def fail() -> None:
        with building(target) as folder:
            write_build(folder, "new")
            raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        fail()
    assert names_below(target.rpartition("/")[0]) == []


def test_a_finished_build_is_replaced_where_asked_and_by_all_of_the_other(target: str) -> None:
    make(target, "old", more=3)
    with pytest.raises(TargetError, match="contains a finished build"):
        make(target)
    assert content_of(target) == "old"
    with building(target, replace=True) as folder:
        write_build(folder, "new", more=1)
        assert content_of(target) == "old"
    assert content_of(target) == "new"
    assert names_below(f"{target}/more") == ["0"]


def test_a_finished_build_stays_where_its_replacement_fails(target: str) -> None:
    make(target, "old")
    with pytest.raises(RuntimeError), building(target, replace=True):
        raise RuntimeError
    assert content_of(target) == "old"
    assert names_beside(target) == []


def test_two_builds_at_once_the_second_refuses(target: str) -> None:
    with building(target) as folder:
        with pytest.raises(TargetError, match=r"another build is running: .*/\.1\.0\.0\.builder"):
            make(target)
        write_build(folder, "first")
    assert content_of(target) == "first"


def test_a_builder_whose_lock_is_taken_publishes_nothing(target: str) -> None:
    parent, _, name = target.rpartition("/")

    def lose() -> None:
        with building(target) as folder:
            write_build(folder, "first")
            write(f"{parent}/.{name}.builder", b"another")

    with pytest.raises(TargetError, match="another build has taken over the lock of this one"):
        lose()
    assert names_below(target) == []
    assert read(f"{parent}/.{name}.builder") == b"another"


@pytest.mark.parametrize("when", ["writing", "moving"])
def test_a_builder_that_was_silent_leaves_the_build_of_the_next_whole(
    target: str, when: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish, "_beat", lambda _, is_over: is_over.wait())
    monkeypatch.setattr(publish, "DEAD_SECONDS", 0.5)
    move = publish._move

    def move_late(*what: Any) -> None:
        monkeypatch.setattr(publish, "_move", move)
        make(target, "next")

    def be_late() -> None:
        with building(target) as folder:
            write_build(folder, "first")
            if when == "moving":
                monkeypatch.setattr(publish, "_move", move_late)
            else:
                make(target, "next")

    with pytest.raises(TargetError, match="another build has taken over the lock of this one"):
        be_late()
    assert content_of(target) == "next"
    assert names_beside(target) == []


def test_a_builder_that_hears_no_answer_keeps_its_lock(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publish, "BEAT_SECONDS", 60.0)

    def put_unheard(*what: Any) -> None:
        put_if(*what)
        raise StoreError(target, "no answer")

    with publish.at_work(f"{target}/.builder") as lock:
        monkeypatch.setattr(publish.stores, "put_if", put_unheard)
        with pytest.raises(StoreError):
            lock.check()
        monkeypatch.setattr(publish.stores, "put_if", put_if)
        lock.check()
    assert names_below(target) == []


ROUNDS = 20


def contend(paths: list[str], barrier: Any, results: Any) -> None:
    """Takes one lock after another, in the same moment as another process."""
    publish.BEAT_SECONDS, publish.DEAD_SECONDS = 0.2, 1.0
    said = []
    for path in paths:
        read_object(path)  # makes a client, which takes a while
        barrier.wait(60)
        try:
            with publish.at_work(path):
                said.append("won")
                barrier.wait(60)
        except publish.BusyError as error:
            said.append(str(error))
            barrier.wait(60)
    results.put((os.getpid(), said))


@pytest.mark.parametrize("is_dead", [False, True], ids=["free", "of a dead one"])
def test_of_two_processes_in_the_same_moment_one_gets_the_lock(target: str, is_dead: bool) -> None:
    paths = [f"{target}/.{number}.builder" for number in range(ROUNDS)]
    for path in paths if is_dead else ():
        write(path, b"dead")
    barrier, results = processes.context.Barrier(2), processes.context.Queue()
    both = [processes.start(contend, paths, barrier, results) for _ in range(2)]
    (one, first), (other, second) = (results.get(timeout=300) for _ in both)
    for process in both:
        process.join(60)
    for path, *said in zip(paths, first, second, strict=True):
        winner = (one, other)[said.index("won")]
        busy = rf"^another build is running: {re.escape(path)}, .*\"process\": {winner}\b"
        assert re.search(busy, said[1 - said.index("won")])
    assert names_below(target) == []


def test_a_bucket_that_is_not_there_is_told_before_anything_is_done(store: Store) -> None:
    target = f"{store.scheme}://no-such-bucket-here/a/b"
    with pytest.raises(TargetError, match=f"^{store.scheme}://no-such-bucket-here/.*no such"):
        make(target)


# The cards of the folders above.


def make_with_card(output: str, edition: str, date: str) -> str:
    target = f"{output}/wiki40b/{edition}/{date}-1.0.0"
    manifest = facts_of("wiki40b", edition, date, counts={}, outputs=[])
    with building(target) as folder:
        write_text(folder, "manifest.json", to_json(manifest))
        write_text(folder, "README.md", "\n".join([*hub_head("cc0-1.0", edition, ["train"]), ""]))
    return target


def loaded(folder: str) -> dict[str, str]:
    head = yaml.safe_load(read(f"{folder}/README.md").decode("utf-8").split("---\n")[1])
    return {one["config_name"]: one["data_files"][0]["path"] for one in head["configs"]}


def test_the_cards_above_name_what_is_finished(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = store.path("cards")
    targets = [make_with_card(output, "no", "20260101"), make_with_card(output, "uk", "20251101")]
    write(f"{output}/wiki40b/uk/20260201-1.0.0/README.md", b"unfinished")
    write_card = folder_cards.write_whole

    def write_late(path: str, content: bytes) -> None:
        """While the card is written, another build is published."""
        newer = f"{output}/wiki40b/uk/20260101-1.0.0"
        if path == f"{output}/wiki40b/README.md" and not is_completed(newer):
            make_with_card(output, "uk", "20260101")
            folder_cards.write_cards([newer])
        write_card(path, content)

    monkeypatch.setattr(folder_cards, "write_whole", write_late)
    folder_cards.write_cards(targets)
    assert loaded(f"{output}/wiki40b") == {
        "no": "no/20260101-1.0.0/train-*.parquet",
        "uk": "uk/20260101-1.0.0/train-*.parquet",
    }
    assert list(loaded(f"{output}/wiki40b/uk")) == ["20260101-1.0.0", "20251101-1.0.0"]
    editions.set_current(f"{output}/wiki40b/uk", "20251101-1.0.0")
    folder_cards.write_cards(targets)
    assert loaded(f"{output}/wiki40b")["uk"] == "uk/20251101-1.0.0/train-*.parquet"
    write_text(output, "wiki40b/README.md", "Mine.")
    folder_cards.write_cards(targets)
    assert read(f"{output}/wiki40b/README.md") == b"Mine."


# Killed processes.


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def build_and_die(target: str, when: str) -> None:
    move = publish._move
    if when == "half moved":

        def move_half(folder: str, target: str, objects: dict[str, int]) -> None:
            half = dict(list(objects.items())[: len(objects) // 2])
            move(folder, target, half)
            die()

        publish._move = move_half  # type: ignore[assignment]
    elif when == "marking":

        def move_and_die(folder: str, target: str, objects: dict[str, int]) -> None:
            move(folder, target, objects)
            die()

        publish._move = move_and_die  # type: ignore[assignment]
    with building(target, replace=True) as folder:
        write_build(folder, "half")
        if when == "writing":
            die()


@pytest.mark.parametrize("when", ["writing", "half moved", "marking"])
def test_a_killed_replacement_leaves_the_old_build_or_none(
    store: Store, target: str, when: str
) -> None:
    if store.scheme == "s3" and when != "half moved":
        pytest.skip("killed on the other store")  # a new process takes seconds
    make(target, "old")
    process = processes.start(build_and_die, target, when)
    process.join(60)
    assert process.exitcode == -signal.SIGKILL
    assert is_completed(target) == (when == "writing")
    if when == "writing":
        assert content_of(target) == "old"
    make(target, "new", replace=True)
    assert content_of(target) == "new"
    assert names_beside(target) == []


def test_who_is_at_work_says_so_again_and_again(target: str) -> None:
    path = f"{target.rpartition('/')[0]}/.1.0.0.builder"
    with building(target) as folder:
        time.sleep(2 * publish.DEAD_SECONDS)
        assert threading.active_count() > 1
        with pytest.raises(TargetError, match="another build is running"):
            make(target)
        assert read(path)
        write_build(folder, "first")
    assert content_of(target) == "first"


def test_what_a_builder_may_be_at_is_no_leftover(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    edition = target.replace("1.0.0", "20261101-1.0.0")
    folder, _, name = edition.rpartition("/")
    make(edition)
    editions.set_current(folder, name)
    write(f"{folder}/.{name}.stages/01-clean-1/stage.json", b"{}")
    write(f"{folder}/.{name}.builder", b"another")
    assert editions.remove_leftovers(folder) == []
    monkeypatch.setattr(publish, "UNSURE_SECONDS", 0.0)
    assert editions.remove_leftovers(folder) == [f".{name}.stages"]
    assert not any(path.startswith(f".{name}.stages") for path in names_below(folder))
