"""Pipelines give the same, whether what travels between their steps is in memory or in files."""

import functools
import itertools
import pathlib
import tempfile
import time
from collections.abc import Iterator
from typing import Any
from unittest import mock

import apache_beam as beam
import pytest
from apache_beam.coders import (
    BytesCoder,
    IterableCoder,
    StrUtf8Coder,
    TupleCoder,
    WindowedValueCoder,
)
from apache_beam.coders.coders import GlobalWindowCoder
from apache_beam.runners.portability.fn_api_runner.fn_runner import BundleManager
from apache_beam.runners.portability.fn_api_runner.worker_handlers import GrpcWorkerHandler
from apache_beam.runners.worker import data_plane
from apache_beam.transforms.core import Windowing
from apache_beam.transforms.window import FixedWindows, GlobalWindows, TimestampedValue

from corpusmill.pipelines.run.engines import beam_patches, shuffle_files
from corpusmill.pipelines.run.engines.engine import Started
from corpusmill.pipelines.run.engines.run_pipeline import InProcess, run_on
from corpusmill.pipelines.run.engines.shuffle_files import (
    FileGroupingBuffer,
    FileListBuffer,
    shuffle_folder,
)
from corpusmill.transforms.files.errors import BuildError
from tests.tools.run_pipeline import run_pipeline

KEYS = 40
NUMBERS = range(20)
PAIRS = [
    (f"key {(number + at) % KEYS}", bytes([number]) * at)
    for number in NUMBERS
    for at in range(KEYS)
]
GROUPS = sorted(
    (f"key {key}", sorted(value for name, value in PAIRS if name == f"key {key}"))
    for key in range(KEYS)
)


def describe(name: str, values: Any) -> tuple[str, list[bytes]]:
    return name, sorted(values)


def pairs_of(number: int) -> list[tuple[str, bytes]]:
    return PAIRS[number * KEYS : (number + 1) * KEYS]


def count_in_all(element: Any, everything: Any) -> tuple[str, int]:
    return element[0], len(everything)


def everything_that_travels(root: beam.Pipeline) -> dict[str, beam.PCollection]:
    numbers = root | beam.Create(NUMBERS)
    pairs = numbers | beam.FlatMap(pairs_of).with_output_types(tuple[str, bytes])
    grouped = pairs | "Group" >> beam.GroupByKey()
    groups = grouped | "Describe" >> beam.MapTuple(describe)
    lengths = grouped | "Lengths" >> beam.MapTuple(lambda name, values: (name, len(list(values))))
    timed = pairs | "Time" >> beam.Map(lambda pair: TimestampedValue(pair, len(pair[1])))
    in_windows = timed | "Windows" >> beam.WindowInto(FixedWindows(10)) | beam.GroupByKey()
    both = (pairs, timed) | "Both" >> beam.Flatten() | "Keys" >> beam.Keys()
    return {
        "groups": groups,
        "lengths": lengths,
        "with_all": groups | "All" >> beam.Map(count_in_all, beam.pvalue.AsList(pairs)),
        "in_windows": in_windows | "InWindows" >> beam.MapTuple(describe),
        "counts": both | "Count" >> beam.combiners.Count.PerElement(),
    }


@functools.cache
def by_beam() -> dict[str, list[Any]]:
    outcome = run_pipeline(everything_that_travels)
    return {name: sorted(elements) for name, elements in outcome.elements.items()}


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("held_bytes", [0, 3_000, 1 << 22])
def test_what_travels_in_files_is_what_travels_in_memory(
    held_bytes: int, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = by_beam()
    assert expected["groups"] == GROUPS
    monkeypatch.setattr(shuffle_files, "HELD_BYTES", held_bytes)
    monkeypatch.setattr(shuffle_files, "_EXTENT_BYTES", 50)
    made = mock.Mock(side_effect=tempfile.TemporaryFile)
    monkeypatch.setattr(tempfile, "TemporaryFile", made)
    outcome = run_pipeline(everything_that_travels, workers)
    assert {name: sorted(elements) for name, elements in outcome.elements.items()} == expected
    assert made.called == (held_bytes < 1 << 22)


def test_large_partitions_are_dealt_out_again_and_sent_in_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shuffle_files, "HELD_BYTES", 1_000)
    monkeypatch.setattr(shuffle_files, "PARTITIONS", 3)
    buffer = grouping_buffer()
    for number in NUMBERS:
        buffer.append(encode(pairs_of(number)))
    coder = WindowedValueCoder(
        TupleCoder([StrUtf8Coder(), IterableCoder(BytesCoder())]), GlobalWindowCoder()
    )
    for large, message_bytes, at_least in (
        (1 << 20, 1 << 20, 3),
        (1 << 20, 2_000, 6),
        (0, 1, KEYS),
    ):
        monkeypatch.setattr(shuffle_files, "LARGE_PARTITION_BYTES", large)
        monkeypatch.setattr(shuffle_files, "MESSAGE_BYTES", message_bytes)
        (part,) = buffer.partition(1)
        messages = list(part)
        assert len(messages) >= at_least
        groups = [
            (key, sorted(values))
            for message in messages
            for one in coder.get_impl().decode_all(message)
            for key, values in [one.value]
        ]
        assert sorted(groups) == GROUPS


def grouping_buffer() -> FileGroupingBuffer:
    pair = TupleCoder([StrUtf8Coder(), BytesCoder()])
    group = TupleCoder([StrUtf8Coder(), IterableCoder(BytesCoder())])
    coders = (_Keyed(one, GlobalWindowCoder()) for one in (pair, group))
    return FileGroupingBuffer(*coders, Windowing(GlobalWindows()))


class _Keyed(WindowedValueCoder):
    def key_coder(self) -> StrUtf8Coder:
        return StrUtf8Coder()


def encode(pairs: list[tuple[str, bytes]]) -> bytes:
    coder = WindowedValueCoder(TupleCoder([StrUtf8Coder(), BytesCoder()]), GlobalWindowCoder())
    return b"".join(
        coder.get_impl().encode_nested(GlobalWindows.windowed_value(one)) for one in pairs
    )


def test_workers_take_each_partition_once_and_one_at_a_time(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    monkeypatch.setattr(shuffle_files, "HELD_BYTES", 1_000)
    with shuffle_folder(str(tmp_path)):
        buffer = grouping_buffer()
        for number in NUMBERS:
            buffer.append(encode(pairs_of(number)))
        parts = [list(part) for part in buffer.partition(3)]
        others = [list(part) for part in buffer.partition(2)]
    assert list(tmp_path.iterdir()) == []  # the file has no name
    assert [sum(map(bool, part)) > KEYS // 5 for part in parts] == [True] * 3
    assert sorted(itertools.chain(*parts)) == sorted(itertools.chain(*others))


def test_a_list_is_dealt_as_beam_deals_it(monkeypatch: pytest.MonkeyPatch) -> None:
    held, filed = FileListBuffer(None), FileListBuffer(None)
    chunks = [bytes([number]) * 100 for number in range(9)]
    for chunk in chunks:
        held.append(chunk)
    monkeypatch.setattr(shuffle_files, "HELD_BYTES", 250)
    for chunk in chunks:
        filed.append(chunk)
    copied = filed.copy()
    filed.clear()
    assert list(copied) == list(held) == chunks
    for workers in (1, 2, 9):
        assert [list(one) for one in copied.partition(workers)] == [
            list(one) for one in held.partition(workers)
        ]


def test_a_worker_that_sent_most_elements_does_not_get_most_of_them() -> None:
    coder = BytesCoder().get_impl()
    buffer = FileListBuffer(coder)
    elements = [b"%d" % number for number in range(13)]
    for message in (elements[:11], elements[11:]):
        buffer.append(b"".join(map(coder.encode_nested, message)))
    parts = [[*coder.decode_all(b"".join(part))] for part in buffer.partition(2)]
    assert [len(part) for part in parts] == [7, 6]
    assert sorted(itertools.chain(*parts)) == sorted(elements)


@pytest.mark.parametrize("workers", [3, 5])
def test_workers_get_as_many_bytes_of_the_groups(
    workers: int, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    monkeypatch.setattr(shuffle_files, "HELD_BYTES", 1_000)
    with shuffle_folder(str(tmp_path)):
        buffer = grouping_buffer()
        for number in range(
            8 * workers
        ):  # by their hashes, one worker would have up to twice as many
            buffer.append(encode([(f"unit {number}", b"x" * 10_000)]))
        sizes = [sum(map(len, part)) for part in buffer.partition(workers)]
    assert max(sizes) - min(sizes) < 10_000


def test_workers_get_as_many_references_to_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elements that are small, but of different sizes, such as parts of a dump."""
    monkeypatch.setattr(shuffle_files, "HELD_BYTES", 1_000)
    buffer = grouping_buffer()
    for number in range(64):
        buffer.append(encode([(f"unit {number}", b"x" * (number % 7) * 50)]))
    assert [b"".join(part).count(b"unit") for part in buffer.partition(2)] == [32, 32]


def test_a_full_disk_ends_a_build_with_a_line_that_names_the_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    monkeypatch.setattr(shuffle_files, "HELD_BYTES", 0)
    full = functools.partial(pathlib.Path("/dev/full").open, "r+b", buffering=0)
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: full())
    engine = InProcess(1, [])
    with (
        engine.started(str(tmp_path)) as started,
        pytest.raises(BuildError, match=f"^{tmp_path}: cannot be written: No space left on device"),
    ):
        _fill(started)


def _fill(started: Started) -> None:
    run_on(started, lambda root: root | beam.Create(PAIRS) | beam.GroupByKey())  # type: ignore[arg-type,return-value]


def test_nothing_is_lost_where_a_worker_is_slower_than_the_runner(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A timer of Beam's streams empties them, and loses what is written while it waits for a full queue."""
    monkeypatch.setattr(data_plane, "_DEFAULT_SEND_QUEUE_MAX_BYTES", 1_000)
    monkeypatch.setattr(beam_patches, "DATA_BUFFER_TIME_LIMIT_MS", 1)
    handler = object.__new__(GrpcWorkerHandler)
    handler.data_conn = beam_patches._Data()
    pieces = [number.to_bytes(2, "big") * 300 for number in range(500)]
    manager = mock.Mock(_worker_handler=handler)
    BundleManager._send_input_to_worker(manager, "bundle", "step", _slowly(pieces))
    sent = []
    while not (message := handler.data_conn._to_send.get()).is_last:
        time.sleep(0.002)
        sent.append(message.data)
    assert b"".join(sent) == b"".join(pieces)


def _slowly(pieces: list[bytes]) -> Iterator[bytes]:
    for piece in pieces:
        time.sleep(0.0005)
        yield piece
