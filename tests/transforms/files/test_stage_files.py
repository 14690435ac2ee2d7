"""Collections that one stage writes are read by the next one: all of it, once, or nothing."""

import os
import pickle
import struct
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import apache_beam as beam
import hypothesis
import hypothesis.strategies as st
import numpy as np
import pytest
import zstandard

from corpusmill.transforms.files import stage_files
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import LineRange
from tests.tools.run_pipeline import run_pipeline

RANGES = [LineRange(number, number, bytes([number])) for number in range(20)]


class Handed(NamedTuple):
    """The outputs of the stage of these tests."""

    numbers: beam.PCollection
    ranges: beam.PCollection
    nothing: beam.PCollection


def write(folder: Path, numbers: Sequence[Any] = range(50), of_type: Any = int) -> None:
    def build(root: beam.Pipeline) -> beam.PCollection:
        outcome = Handed(
            root | "Numbers" >> beam.Create(list(numbers)).with_output_types(of_type),
            root | "Ranges" >> beam.Create(RANGES).with_output_types(LineRange),
            root | "Nothing" >> beam.Create([]).with_output_types(tuple[str, int]),
        )
        return outcome._asdict() | stage_files.WriteStage(str(folder))

    assert run_pipeline(build).elements["main"] == [str(folder / stage_files.LIST)]


def read(folder: Path, *fields: str) -> dict[str, list[Any]]:
    def build(root: beam.Pipeline) -> dict[str, beam.PCollection]:
        outcome = stage_files.StageOutcome(root, "first", str(folder))
        return {field: getattr(outcome, field) for field in fields}

    return run_pipeline(build).elements


def test_a_stage_gives_what_the_one_before_has_given(tmp_path: Path) -> None:
    write(tmp_path)
    found = read(tmp_path, *Handed._fields)
    assert sorted(found["numbers"]) == list(range(50))
    assert sorted(found["ranges"]) == RANGES
    assert found["nothing"] == []


def test_types_stay_and_with_them_coders(tmp_path: Path) -> None:
    write(tmp_path)
    outcome = stage_files.StageOutcome(beam.Pipeline(), "first", str(tmp_path))
    assert outcome.numbers.element_type is int
    assert outcome.ranges.element_type is LineRange
    assert outcome.nothing.element_type == beam.typehints.Tuple[str, int]
    assert outcome.numbers is outcome.numbers  # it is read once


def test_a_field_that_nobody_asks_for_is_not_read(tmp_path: Path) -> None:
    write(tmp_path)
    for path in tmp_path.glob("numbers-*"):
        path.unlink()
    assert sorted(read(tmp_path, "ranges")["ranges"]) == RANGES


def test_there_are_no_other_fields(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(AttributeError, match="has no field numbrs"):
        _ = stage_files.StageOutcome(beam.Pipeline(), "first", str(tmp_path)).numbrs


@pytest.mark.parametrize("few", [True, False])
def test_large_and_small_elements_go_by_the_same_way(
    tmp_path: Path, few: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not few:  # then they are not spread once more
        monkeypatch.setattr(stage_files, "SPREAD_BYTES", 0)
    monkeypatch.setattr(stage_files, "BLOCK_BYTES", 1 << 10)
    monkeypatch.setattr(stage_files, "PART_BYTES", 1 << 11)
    large = [os.urandom(1 << 16) for _ in range(3)]
    write(tmp_path, [*large, *range(1000)], Any)
    found = read(tmp_path, "numbers")["numbers"]
    assert sorted(number for number in found if isinstance(number, int)) == list(range(1000))
    assert {one for one in found if isinstance(one, bytes)} == set(large)
    assert len(found) == 1003
    parts = stage_files.read_list(str(tmp_path))["numbers"].parts
    assert sum(part.elements for part in parts) == 1003
    assert len(parts) >= 3
    assert all(part.end - part.start < (1 << 17) for part in parts)


def test_arrays_and_mappings_are_elements_too(tmp_path: Path) -> None:
    elements: list[Any] = [np.arange(5), {"a": (1, None)}, Counter(a=3), "é"]
    write(tmp_path, elements, Any)
    found = read(tmp_path, "numbers")["numbers"]
    assert sorted(map(repr, found)) == sorted(map(repr, elements))


# Without an engine: bundles as a law.


def write_bundles(
    folder: Path, bundles: Sequence[Sequence[Any]], field: str = "f"
) -> list[stage_files.StageFile]:
    files = []
    for bundle in bundles:
        worker = stage_files._WriteElements(str(folder), field)
        worker.start_bundle()
        for element in bundle:
            worker.process(element)
        files += [written.value for written in worker.finish_bundle()]
    return files


def elements_of(folder: Path, field: stage_files.StageField) -> list[Any]:
    return [element for part in field.parts for element in stage_files.read_part(part, str(folder))]


ELEMENTS = st.lists(st.tuples(st.integers(0, 99), st.binary(max_size=30)), max_size=40)


@hypothesis.given(
    st.lists(ELEMENTS, max_size=5),
    st.sampled_from([1, 50, 1 << 20]),
    st.sampled_from([1, 100, 1 << 21]),
)
def test_every_element_is_there_once_however_it_is_cut(
    bundles: list[list[Any]], block_bytes: int, part_bytes: int
) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as name:
        patch.setattr(stage_files, "BLOCK_BYTES", block_bytes)
        patch.setattr(stage_files, "PART_BYTES", part_bytes)
        patch.setattr(stage_files, "FILE_BYTES", 4 * part_bytes)
        files = write_bundles(Path(name), bundles)
        stage_files.write_list(name, {"f": stage_files.pack_type(Any)}, files)
        found = elements_of(Path(name), stage_files.read_list(name)["f"])
        assert Counter(found) == Counter(element for bundle in bundles for element in bundle)


def test_a_bundle_that_is_run_twice_counts_once(tmp_path: Path) -> None:
    write_bundles(tmp_path, [range(5)])  # whose result was lost
    files = write_bundles(tmp_path, [range(5), range(5, 9)])
    stage_files.write_list(str(tmp_path), {"f": stage_files.pack_type(int)}, files)
    assert len(list(tmp_path.glob("f-*"))) == 3
    assert sorted(elements_of(tmp_path, stage_files.read_list(str(tmp_path))["f"])) == list(
        range(9)
    )


def test_a_worker_that_outlives_its_build_does_not_bring_its_folder_back(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="the build has already ended"):
        write_bundles(tmp_path / "gone", [range(5)])
    assert not (tmp_path / "gone").exists()


# Damages.


def damage(path: Path, how: str) -> None:
    data = path.read_bytes()
    if how == "gone":
        path.unlink()
    elif how == "cut off":
        path.write_bytes(data[:-1])
    elif how == "other bytes":
        path.write_bytes(data[:-10] + bytes([data[-10] ^ 1]) + data[-9:])
    elif how == "a block without end":
        path.write_bytes(b"\xff" * 8 + data[8:])
    elif how == "no elements":
        block = zstandard.compress(b"what cannot be unpickled".ljust(len(data)))
        path.write_bytes((struct.pack(">QQ", len(block), 50) + block).ljust(len(data)))
    else:
        path.write_bytes(b"")


@pytest.mark.parametrize(
    "how", ["gone", "cut off", "other bytes", "a block without end", "no elements", "empty"]
)
def test_damages_are_errors_that_name_the_file(tmp_path: Path, how: str) -> None:
    files = write_bundles(tmp_path, [[os.urandom(100) for _ in range(50)]])
    (path,) = tmp_path.glob("f-*")
    damage(path, how)
    with pytest.raises(InputError, match=f"^{path}: .*(damaged|no such file)"):
        list(stage_files.read_part(files[0].parts[0], str(tmp_path)))


def test_a_stage_without_its_list_has_not_run_to_its_end(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=stage_files.LIST):
        stage_files.StageOutcome(beam.Pipeline(), "first", str(tmp_path))


@pytest.mark.parametrize("kind", ["builtins:int", "", {}])
def test_damaged_type_is_an_error_of_the_list(tmp_path: Path, kind: Any) -> None:
    stage_files.write_list(str(tmp_path), {"f": kind}, ())
    with pytest.raises(InputError, match=stage_files.LIST):
        stage_files.read_list(str(tmp_path))


@pytest.mark.parametrize(
    "kind",
    [
        Any,
        int,
        LineRange,
        beam.typehints.Tuple[str, beam.typehints.List[LineRange]],
        beam.typehints.Dict[str, int],
        beam.typehints.Optional[int],
    ],
)
def test_type_of_elements_is_restored(tmp_path: Path, kind: Any) -> None:
    stage_files.write_list(str(tmp_path), {"f": stage_files.pack_type(kind)}, ())
    assert stage_files.read_list(str(tmp_path))["f"].element_type == kind


def test_elements_that_cannot_be_pickled_are_an_error(tmp_path: Path) -> None:
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
        write_bundles(tmp_path, [[lambda: 0]])
