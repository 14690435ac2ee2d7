import contextlib
import dataclasses
import functools
import json
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from corpusmill.pipelines import batch as batches
from corpusmill.pipelines.batch import ALREADY_THERE, BUILT, FAILED, MISSING, Outcome
from corpusmill.pipelines.run import publish
from corpusmill.pipelines.run.publish import TargetError
from corpusmill.transforms.files.builds.ledger import AccountingError
from corpusmill.transforms.files.builds.manifest import Provenance, assemble
from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.markup import hub_head
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import InputFile
from tests.tools.case_tables import read_cases


@dataclasses.dataclass
class FakeCorpus:
    """A corpus with the attributes that a batch needs."""

    language: str
    files: Mapping[str, Sequence[str]]  # role → paths
    settings: Mapping[str, Any]
    version: str = "1.2.0"

    def provenance(self) -> Provenance:
        return Provenance(
            corpus="wiki40b",
            edition=self.language,
            dump_date="20260101",
            version=self.version,
            release_notes={},
            settings=self.settings,
            caveats=(),
            code={},
        )

    def inputs(self) -> Mapping[str, Sequence[str]]:
        return self.files


class Batch:
    """Five languages below a folder; `broken` tells which of them end with an error."""

    languages = ("en", "el", "uk", "vi", "tl")

    def __init__(self, folder: Path):
        self.folder = folder
        self.broken: dict[str, BaseException] = {}  # language → what its run raises
        self.unmakable: dict[str, BaseException] = {}  # language → what making it raises
        self.settings: dict[str, Any] = {"shard_bytes": 1, "pins": ("a", "b")}
        self.version = "1.2.0"
        self.ran: list[str] = []
        for language in self.languages:
            self.dump_of(language).write_text(language)

    def dump_of(self, language: str) -> Path:
        return self.folder / f"{language}wiki-20260101-pages-articles.xml.bz2"

    def target_of(self, language: str) -> Path:
        return self.folder / "out" / "wiki40b" / language / "20260101-1.2.0"

    def make(self, language: str) -> Any:
        if language in self.unmakable:
            raise self.unmakable[language]
        files = {"dump": [str(self.dump_of(language))], "page-props": []}
        return FakeCorpus(language, files, dict(self.settings), self.version)

    def run(self, corpus: FakeCorpus, replace: bool) -> None:
        self.ran.append(corpus.language)
        with publish.building(str(self.target_of(corpus.language)), replace=replace) as folder:
            if corpus.language in self.broken:
                raise self.broken[corpus.language]
            write_build(Path(folder), corpus)

    def builds(self, replace: bool = False) -> list[batches.NamedBuild]:
        return [
            batches.NamedBuild(
                label=f"{language} 20260101",
                target=str(self.target_of(language)),
                make=functools.partial(self.make, language),
                run=functools.partial(self.run, replace=replace),
            )
            for language in self.languages
        ]

    def outcomes(self, replace: bool = False) -> list[Outcome]:
        self.ran.clear()
        return batches.run_batch(self.builds(replace), replace=replace)


def write_build(folder: Path, corpus: FakeCorpus) -> None:
    inputs = [
        InputFile(role, Path(path).name, Path(path).stat().st_size, "00")
        for role, paths in corpus.files.items()
        for path in paths
    ]
    manifest = assemble(corpus.provenance(), inputs, {}, [], [])
    counts = {"articles": 1, "sections": 2, "characters": 30}
    stats = dict.fromkeys(("train", "validation", "test", "total"), counts)
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "stats.json").write_text(json.dumps(stats))


@pytest.fixture
def batch(tmp_path: Path) -> Batch:
    return Batch(tmp_path)


def statuses(outcomes: Sequence[Outcome]) -> list[str]:
    return [outcome.status for outcome in outcomes]


def test_a_failure_does_not_lose_the_others(batch: Batch, caplog: pytest.LogCaptureFixture) -> None:
    batch.broken["uk"] = BuildError("dump.xml, byte 7: damaged")
    with caplog.at_level(logging.INFO, "corpusmill"):
        outcomes = batch.outcomes()
    assert outcomes == [
        Outcome(
            f"{language} 20260101",
            str(batch.target_of(language)),
            *((FAILED, "dump.xml, byte 7: damaged") if language == "uk" else (BUILT,)),
        )
        for language in batch.languages
    ]
    assert batch.ran == list(batch.languages)
    assert not batch.target_of("uk").exists()
    # told at once, in front of the next build
    messages = caplog.messages
    at = messages.index("uk 20260101: failed: dump.xml, byte 7: damaged")
    assert messages[at - 1 : at + 2 : 2] == [
        "uk 20260101: build 3 of 5",
        "vi 20260101: build 4 of 5",
    ]
    assert [record.levelno for record in caplog.records].count(logging.ERROR) == 1


def test_another_run_builds_what_failed(batch: Batch) -> None:
    batch.broken["uk"] = BuildError("x")
    batch.outcomes()
    del batch.broken["uk"]
    before = {path: path.stat().st_mtime_ns for path in batch.folder.rglob("en/**/*")}
    outcomes = batch.outcomes()
    assert batch.ran == ["uk"]
    assert statuses(outcomes) == [ALREADY_THERE, ALREADY_THERE, BUILT, ALREADY_THERE, ALREADY_THERE]
    assert {path: path.stat().st_mtime_ns for path in batch.folder.rglob("en/**/*")} == before
    assert statuses(batch.outcomes()) == [ALREADY_THERE] * 5
    assert batch.ran == []


def test_a_batch_that_finds_all_there_writes_the_cards_above(batch: Batch) -> None:
    batch.outcomes()
    for language in ("en", "uk"):
        head = hub_head("cc0-1.0", language, ["train"])
        (batch.target_of(language) / "README.md").write_text("\n".join([*head, ""]))
    corpus = batch.folder / "out" / "wiki40b"
    assert not (corpus / "README.md").exists()
    assert statuses(batch.outcomes()) == [ALREADY_THERE] * 5
    assert "config_name: en\n" in (corpus / "README.md").read_text()
    assert (corpus / "uk" / "README.md").exists()


@pytest.mark.parametrize(
    "error",
    [
        BuildError("told"),
        InputError("told", "told", 7),
        TargetError("told"),
        AccountingError("told"),
        ValueError("told"),
    ],
)
@pytest.mark.parametrize("where", ["broken", "unmakable"])
def test_errors_that_tell_are_one_line(
    batch: Batch, caplog: pytest.LogCaptureFixture, where: str, error: Exception
) -> None:
    getattr(batch, where)["el"] = error
    outcomes = batch.outcomes()
    assert statuses(outcomes) == [BUILT, FAILED, BUILT, BUILT, BUILT]
    assert outcomes[1].message == str(error)
    assert all(record.exc_info is None for record in caplog.records)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (RuntimeError("Traceback\n  File x\n\nKeyError: 7\n"), "RuntimeError: KeyError: 7"),
        (KeyError("x"), "KeyError: 'x'"),
        (MemoryError(), "MemoryError: see the traceback"),
        (OSError(28, "No space left on device"), "OSError: [Errno 28] No space left on device"),
    ],
)
def test_any_other_error_comes_with_its_traceback(
    batch: Batch, caplog: pytest.LogCaptureFixture, error: Exception, message: str
) -> None:
    batch.broken["en"] = error
    outcomes = batch.outcomes()
    assert statuses(outcomes) == [FAILED, BUILT, BUILT, BUILT, BUILT]
    assert outcomes[0].message == message
    traced = [record.exc_info[1] for record in caplog.records if record.exc_info]
    assert traced == [error]


@pytest.mark.parametrize("end", [KeyboardInterrupt(), SystemExit(143)])
def test_an_interrupt_ends_the_batch(batch: Batch, end: BaseException) -> None:
    batch.broken["uk"] = end
    with pytest.raises(type(end)):
        batch.outcomes()
    assert batch.ran == ["en", "el", "uk"]
    assert publish.is_completed(str(batch.target_of("el")))


# Finished builds that are others.


def change_a_setting(batch: Batch) -> None:
    batch.settings["shard_bytes"] = 2


def add_settings(batch: Batch) -> None:
    batch.settings |= {"a": 1, "b": "x", "c": None, "d": [1], "e": True}
    del batch.settings["pins"]


def change_a_size(batch: Batch) -> None:
    for language in batch.languages:
        batch.dump_of(language).write_text("more")


def change_a_name(batch: Batch) -> None:
    batch.dump_of = lambda language: batch.folder / f"{language}.xml"  # type: ignore[method-assign]
    change_a_size(batch)


def change_all(batch: Batch) -> None:
    batch.version = "1.3.0"
    change_a_setting(batch)
    change_a_size(batch)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (change_a_setting, "with other settings (shard_bytes: 1 → 2)"),
        (add_settings, "with other settings (a: none → 1, b: none → x, d: none → [1] and 2 more)"),
        (change_a_size,
         "from other inputs (dump ukwiki-20260101-pages-articles.xml.bz2: 2 bytes → 4 bytes)"),
        (change_a_name,
         "from other inputs (dump uk.xml: none → 4 bytes,"
         " dump ukwiki-20260101-pages-articles.xml.bz2: 2 bytes → none)"),
        (change_all,
         "of another version (1.2.0 → 1.3.0); with other settings (shard_bytes: 1 → 2);"
         " from other inputs (dump ukwiki-20260101-pages-articles.xml.bz2: 2 bytes → 4 bytes)"),
    ],
)  # fmt: skip
def test_a_finished_build_that_is_another_is_not_touched(
    batch: Batch, change: Callable[[Batch], None], message: str
) -> None:
    batch.outcomes()
    change(batch)
    outcomes = batch.outcomes()
    assert batch.ran == []
    target = str(batch.target_of("uk"))
    assert outcomes[2] == Outcome(
        "uk 20260101",
        target,
        FAILED,
        f"{target} contains a build {message}; use --replace to build it again",
    )
    assert statuses(outcomes) == [FAILED] * 5
    assert statuses(batch.outcomes(replace=True)) == [BUILT] * 5
    assert batch.ran == list(batch.languages)
    assert statuses(batch.outcomes()) == [ALREADY_THERE] * 5


def test_an_unfinished_build_is_built(batch: Batch) -> None:
    batch.outcomes()
    (batch.target_of("vi") / "COMPLETED").unlink()
    batch.outcomes()
    assert batch.ran == ["vi"]


@pytest.mark.parametrize(
    ("content", "message"), [("{", "not JSON: "), (None, "the build is damaged: ")]
)
def test_a_finished_build_that_is_damaged(batch: Batch, content: str | None, message: str) -> None:
    batch.outcomes()
    manifest = batch.target_of("en") / "manifest.json"
    manifest.unlink()
    if content:
        manifest.write_text(content)
    outcomes = batch.outcomes()
    assert statuses(outcomes) == [FAILED, *[ALREADY_THERE] * 4]
    assert outcomes[0].message.startswith(f"{manifest}: {message}")


# The end.


def test_the_lines_at_the_end(batch: Batch) -> None:
    outcomes = [
        Outcome("uk 20260101", "out/uk", BUILT),
        Outcome("el 20260101", "out/el", ALREADY_THERE),
        Outcome("vi 20260101", "out/vi", FAILED, "dump.xml: no such file"),
        Outcome("ar", "", MISSING, "no folder arwiki"),
        Outcome("zh-tw", "", MISSING, "why"),
    ]
    head, _, *rows, last = batches.describe_outcomes(outcomes).splitlines()
    assert [re.split(" {2,}", row.strip()) for row in (head, *rows)] == [
        ["build", "status", "result"],
        *([one.label, one.status, one.message or one.target] for one in outcomes),
    ]
    assert last == "1 built, 1 already there, 1 failed, 2 missing"


def test_the_table_at_the_end_holds_what_is_built(
    batch: Batch, capsys: pytest.CaptureFixture[str]
) -> None:
    batch.broken["uk"] = BuildError("x")
    outcomes = batch.outcomes()
    batches.print_sizes(outcomes)
    with pytest.raises(BuildError, match=r"^1 of 5 builds failed: uk 20260101; the reasons are"):
        batches.conclude(outcomes, missing_is_failure=False)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[-1] == "4 built, 1 failed".split()
    table = [line[0] for line in lines if line[1:3] == ["20260101", "1"]]
    assert table == ["en", "el", "tl", "vi"]
    assert "Total 4 8 – – – 120 120 120".split() in [line[:9] for line in lines]


def test_no_table_where_nothing_is_built(capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = [Outcome("uk", "out", FAILED, "why")]
    batches.print_sizes(outcomes)
    with pytest.raises(BuildError, match="1 of 1 builds failed: uk; "):
        batches.conclude(outcomes, missing_is_failure=False)
    _, _, row, last = capsys.readouterr().out.splitlines()
    assert (row.split(), last) == (["uk", "failed", "why"], "1 failed")


@pytest.mark.parametrize(
    ("wanted", "missing_is_failure", "failed"),
    read_cases("pipelines/batch", "a_batch_ends_with_what_failed"),
)
def test_a_batch_ends_with_what_failed(
    batch: Batch, wanted: list[str], missing_is_failure: bool, failed: str
) -> None:
    built = batch.outcomes()
    outcomes = [one._replace(status=kind) for one, kind in zip(built, wanted, strict=False)]
    with pytest.raises(BuildError, match=failed) if failed else contextlib.nullcontext():
        batches.conclude(outcomes, missing_is_failure=missing_is_failure)


def test_few_of_many_failures_are_named() -> None:
    with pytest.raises(BuildError, match=r"^12 of 20 builds failed: 0, .*, 9 and 2 more; why$"):
        batches.end_if_failed(list(map(str, range(12))), 20, "builds failed", "why")
    batches.end_if_failed([], 20, "builds failed")
