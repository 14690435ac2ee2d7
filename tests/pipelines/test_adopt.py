"""Builds that are made of released corpora."""

import functools
import importlib.util
import io
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.pipelines.adopt_corpora import adopted
from corpusmill.pipelines.adopt_settings import AdoptConfig
from corpusmill.pipelines.inspect import verify
from corpusmill.pipelines.run.launch import launch
from corpusmill.transforms.files.builds.finished_builds import open_build
from corpusmill.transforms.files.errors import BuildError
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.released_layouts import LAYOUTS
from corpusmill.transforms.files.tfrecord import decode_example, read_records
from corpusmill.transforms.wikipedia.article_rows import decode_value, parse_bytes
from corpusmill.transforms.wikipedia.split_pins import find_pins, plan_units, read_pins
from tests.deploy.schedulers import DEPLOY
from tests.makers import released
from tests.makers.tokenizer_files import small_tokenizer
from tests.makers.wiki_builds import Command, files_below
from tests.tools.case_tables import read_cases, read_tables
from tests.tools.real_data import DATA, needs_real_data

Builds = Callable[[str], Path]  # layout → the build of its made release
PARTS = ("pg19", "flores101", "flores200", "floresplus")  # the made releases are too small
ARCHIVES = {"lm1b": "tar", "simplebooks": "zip", "flores200": "tar"}


def adopt(layout: str, source: Path, output: Path, **more: Any) -> Path:
    config = AdoptConfig(LAYOUTS[layout].corpus, str(source), **more)
    build = adopted(config)
    launch(build, str(output), workers=1, is_sample=True)
    return output.joinpath(*build.path)


def write_release(folder: Path, layout: str, files: released.Files, archive: str = "") -> Path:
    if archive == "tar":
        return released.write_tar(folder / f"{layout}.tar.gz", files)
    if archive == "zip":
        return released.write_zip(folder / f"{layout}.zip", files)
    return released.write_folder(folder / layout, files)


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Builds:
    """Adopts the made release of a layout, once."""

    @functools.cache
    def made(layout: str) -> Path:
        folder = tmp_path_factory.mktemp(layout)
        archive = ARCHIVES.get(layout, "")
        source = write_release(folder, layout, released.LAYOUTS[layout](), archive)
        return adopt(layout, source, folder / "corpora", partial=layout in PARTS)

    return made


def rows_of(build: Path, split: str) -> list[dict[str, Any]]:
    files = sorted(build.glob(f"{split}-[0-9]*.parquet"))
    return [row for file in files for row in pq.read_table(file).to_pylist()]


def records_of(build: Path, split: str) -> Iterator[dict[str, Any]]:
    for path in sorted(build.glob(f"*-{split}.tfrecord-*")):
        with path.open("rb") as stream:
            for data in read_records(stream):
                yield decode_example(data)


def expected(layout: str) -> dict[str, list[str]]:
    """Split → the texts of the made release, in order."""
    files = released.LAYOUTS[layout]()
    if layout.startswith("wiki40b"):
        texts = [released.article(one)["text"] for one in range(13)]
        return {"train": texts[:9], "validation": texts[9:11], "test": texts[11:]}
    if layout == "lm1b":
        lines = functools.partial(released.texts_of, files)
        test = [*lines("news.en.heldout-")]
        return {"train": [*lines("training-")], "test": test, "paper_test": test[:2]}
    if layout == "pg19":
        order = {"train": (9, 84, 100), "validation": (1022,), "test": (36, 10146)}
        return {
            split: [files[f"{split}/{one}.txt"].decode() for one in of]
            for split, of in order.items()
        }
    if layout == "simplebooks":
        names = LAYOUTS[layout].splits.items()
        return {split: [*released.texts_of(files, f"/{name}.txt")] for name, split in names}
    if layout == "floresplus":
        one = [
            f"{code} {released.sentence(n)}" for code in ("eng_Latn", "ukr_Cyrl") for n in range(6)
        ]
        return {"dev": one, "devtest": one}
    return {split: [*released.texts_of(files, f"/{split}/")] for split in ("dev", "devtest")}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_text_is_changed_and_rows_are_in_the_released_order(build: Builds, layout: str) -> None:
    folder, texts = build(layout), expected(layout)
    manifest = open_build(str(folder)).manifest
    assert manifest["settings"]["source"] == "released"
    assert manifest["settings"].get("partial") is (True if layout in PARTS else None)
    assert "|source:released|" in manifest["signature"]
    column = "book_text" if layout == "pg19" else "text"
    assert {split: [row[column] for row in rows_of(folder, split)] for split in texts} == texts
    for split, of_split in texts.items():
        records = [record[column] for record in records_of(folder, split)]
        assert [text.decode() for text in records if isinstance(text, bytes)] == of_split
    units = {"pg19": "books", "simplebooks": "paragraphs", "wiki40b": "articles"}
    unit = units.get(layout.partition("-")[0], "sentences")
    stats = json.loads((folder / "stats.json").read_text())
    for split, of_split in texts.items():
        assert manifest["counts"]["kept"][split] == stats[split][unit] == len(of_split)
        words = sum(len(text.replace("_NEWLINE_", " ").split()) for text in of_split)
        assert stats[split]["words"] == words - 2 * len(of_split) * (unit == "articles")  # markers
    card = (folder / "README.md").read_text()
    assert ("Only a part of the release" in card) is (layout in PARTS)


def test_bytes_notation_is_decoded_and_repeated_ids_are_counted(
    build: Builds,
) -> None:
    parquet, records = build("wiki40b-parquet"), build("wiki40b-tfrecord")
    assert rows_of(parquet, "train") == rows_of(records, "train")
    assert rows_of(parquet, "train")[:2] == [released.article(0), released.article(1)]
    counts = open_build(str(parquet)).manifest["counts"]
    assert (counts["bytes_notation"], counts["repeated_ids"]) == (13, 1)
    assert "In 13 rows, values were published as bytes" in (parquet / "README.md").read_text()
    assert open_build(str(records)).manifest["counts"]["bytes_notation"] == 0


@pytest.mark.parametrize("case", read_cases("pipelines/adopt", "rows"))
def test_metadata_of_books_and_sentences(build: Builds, case: dict[str, Any]) -> None:
    row = rows_of(build(case["layout"]), case["split"])[case["at"]]
    assert {name: row[name] for name in case["row"]} == case["row"]
    assert len(row) == len(case["row"]) + 1  # the text


def of_tfds() -> released.Files:
    """The articles as `tensorflow_datasets` prepares them."""
    found = {}
    for name, content in released.wiki40b_tfrecord().items():
        split, _, numbers = name.replace("dev/", "validation/").partition("/uk_examples-")
        found[f"uk/1.3.0/wiki40b-{split}.tfrecord-{numbers}"] = content
    return {**found, "uk/1.3.0/dataset_info.json": b"{}", "uk/1.3.0/features.json": b"{}"}


def of_json_lines() -> released.Files:
    found = {}
    for name, content in released.floresplus().items():
        rows = pq.read_table(io.BytesIO(content)).to_pylist()
        lines = "".join(f"{json.dumps(row)}\n" for row in rows)
        found[name.replace(".parquet", ".jsonl")] = lines.encode()
    return found


@pytest.mark.parametrize(
    ("layout", "files", "archive"),
    [
        ("wiki40b-tfrecord", of_tfds, ""),
        ("floresplus", of_json_lines, ""),
        ("pg19", released.pg19, "tar"),
        ("flores101", released.flores101, "tar"),
    ],
)
def test_other_files_of_a_layout_have_the_same_rows(
    build: Builds, tmp_path: Path, layout: str, files: Callable[[], released.Files], archive: str
) -> None:
    source = write_release(tmp_path, layout, files(), archive)
    folder = adopt(layout, source, tmp_path / "corpora", partial=layout in PARTS)
    for split in expected(layout):
        assert rows_of(folder, split) == rows_of(build(layout), split)


def test_shards_of_news_are_those_of_the_release(build: Builds) -> None:
    files, folder = released.lm1b(), build("lm1b")
    texts = {name.partition("/")[2]: of for name, of in files.items() if "news" in name}
    assert {name: (folder / name).read_bytes() for name in texts} == texts
    assert len((folder / "md5sums").read_text().splitlines()) == 150


def test_bytes_do_not_depend_on_the_workers(build: Builds, tmp_path: Path) -> None:
    first = build("wiki40b-parquet")
    source = first.parents[3] / "wiki40b-parquet"
    config = AdoptConfig("wiki40b", str(source / "uk"))
    launch(adopted(config), str(tmp_path), workers=3, is_sample=True)
    second = tmp_path.joinpath(*first.parts[-3:])
    assert files_below(first) == files_below(second)
    for name in files_below(first):
        assert (first / name).read_bytes() == (second / name).read_bytes()


@pytest.mark.parametrize("case", read_cases("pipelines/adopt", "refused"))
def test_what_is_wrong_is_named(case: dict[str, Any], tmp_path: Path) -> None:
    layout = case["layout"]
    files = dict(released.without(released.LAYOUTS[layout](), *case.get("remove", ())))
    files |= {new: files[old] for old, new in case.get("copy", {}).items()}
    for part in case.get("cut", ()):
        files |= {name: of[: len(of) // 2] for name, of in files.items() if part in name}
    files |= {name: files[name] * 2 for name in case.get("twice", ())}
    for name, count in case.get("lines", {}).items():
        row = {"iso_639_3": "deu", "iso_15924": "Latn", "text": "Ja."}
        lines = (f"{json.dumps({'id': one, **row})}\n" for one in range(count))
        files[name] = "".join(lines).encode()
    source = write_release(tmp_path, layout, files, case.get("archive", ""))
    if case.get("cut_archive"):
        source.write_bytes(source.read_bytes()[:-900])
    more = {name: case[name] for name in ("partial", "language") if name in case}
    with pytest.raises((InputError, BuildError, ValueError), match=case["message"]):
        adopt(layout, source, tmp_path / "corpora", **more)


def test_a_part_without_a_split_and_with_other_files(tmp_path: Path, run: Command) -> None:
    files = {**released.without(released.wiki40b_parquet(), "train-"), "uk/notes.txt": b"x"}
    source = write_release(tmp_path, "wiki40b-parquet", files)
    command = ["adopt", "wiki40b", source, "--output", tmp_path / "corpora", "--workers", "1"]
    assert "unknown files: uk/notes.txt" in run(*command, status=1).err
    ran = run(*command, "--partial", "--ignore", "*.txt")
    assert "Only a part of the release. Missing: the split train." in ran.out
    (folder,) = (tmp_path / "corpora/wiki40b/uk-released-partial").glob("2020-*")
    assert "uk-released-partial" in run("report", folder).out
    run("verify", folder, "--workers", "1", status=1)


def test_the_smaller_simplebooks_is_a_part(tmp_path: Path) -> None:
    files = released.without(released.LAYOUTS["simplebooks"](), "-92", "-raw", "valid")
    source = write_release(tmp_path, "simplebooks", files)
    folder = adopt("simplebooks", source, tmp_path / "corpora", partial=True)
    kept = open_build(str(folder)).manifest["counts"]["kept"]
    assert kept == {
        **{name: kept[name] for name in ("train_2", "test_2")},
        "total": sum(kept.values()) // 2,
    }


def test_the_language_is_named_if_no_folder_names_it(tmp_path: Path) -> None:
    files = {name.replace("uk/", "hf/"): of for name, of in released.wiki40b_parquet().items()}
    source = write_release(tmp_path, "wiki40b-parquet", files)
    with pytest.raises(ValueError, match="give --language"):
        adopted(AdoptConfig("wiki40b", str(source)))
    assert adopted(AdoptConfig("wiki40b", str(source), "uk")).edition == "uk-released"


def test_verify_names_what_differs_from_the_published_sizes(
    build: Builds, run: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    for layout, differences in read_tables("pipelines/adopt")["differing"].items():
        status = 1 if differences else 0
        shown = run("verify", build(layout), "--workers", "1", status=status).out
        assert re.findall(r": (has .*)", shown) == differences
    books = open_build(str(build("pg19")))
    whole = {**books.manifest, "settings": {**books.manifest["settings"], "incomplete": []}}
    found = [fault.message for fault in verify._differences(books._replace(manifest=whole))]
    assert any(re.search(r"3 books of train, and 28,602 were published", one) for one in found)
    assert any(re.search(r"test is not that of the release: the books 36, ", one) for one in found)


IDS = read_tables("pipelines/adopt")["ids"]
COMMANDS = read_tables("pipelines/adopt")["commands"]
REFUSED = {  # as builds of the same corpus
    (one["command"], one["layout"]): (one["status"], one["message"])
    for one in read_cases("pipelines/adopt", "refusing")
}


@pytest.mark.parametrize("layout", IDS)
@pytest.mark.parametrize("command", COMMANDS)
def test_commands_take_builds_of_released_corpora(
    build: Builds, run: Command, tmp_path: Path, layout: str, command: str
) -> None:
    (tmp_path / "tokenizer.json").write_bytes(small_tokenizer())
    values = {
        "build": build(layout),
        "train": build("lm1b"),
        "output": tmp_path,
        "id": IDS[layout],
        "test": "devtest" if layout == "floresplus" else "test",
    }
    status, message = REFUSED.get((command, layout), (0, ""))
    ran = run(*COMMANDS[command].format(**values).split("|"), status=status)
    assert message in ran.err


def test_a_page_has_all_builds_of_released_corpora(
    build: Builds, run: Command, tmp_path: Path
) -> None:
    run("report", *map(build, IDS), "--html", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert all(open_build(str(build(layout))).name in page for layout in IDS)


@pytest.mark.parametrize("layout", IDS)
def test_training_jobs_read_builds_of_released_corpora(build: Builds, layout: str) -> None:
    spec = importlib.util.spec_from_file_location("reader", DEPLOY / "training" / "read_corpus.py")
    assert spec
    assert spec.loader
    reader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reader)
    split = "devtest" if layout == "floresplus" else "train"
    edition = reader.wait_for_edition(str(build(layout).parent))
    column = reader.text_column(edition, split)
    rows = [*reader.read_share(edition, split, [column], rank=0, ranks=1)]
    assert sorted(row[column] for row in rows) == sorted(expected(layout)[split])


@pytest.mark.parametrize(
    "pattern", ["{source}/uk", "{source}/uk/*.parquet", "{build}", "wiki40b/uk-released/2020-1.0.0"]
)
def test_splits_are_pinned_by_released_files(
    build: Builds, pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = build("wiki40b-parquet")
    monkeypatch.chdir(folder.parents[2])
    source = folder.parents[3] / "wiki40b-parquet"
    found = find_pins([pattern.format(source=source, build=folder)])
    units = [unit for file in found.files for unit in plan_units(file)]
    pins = dict(pin for unit in units for pin in read_pins(unit))
    assert pins["Q8"] == "train"
    assert pins["Q9"] == "validation"
    assert pins["Q12"] == "test"
    assert len(pins) == 12


@given(st.binary())
def test_bytes_in_the_notation_of_python_are_parsed(content: bytes) -> None:
    assert parse_bytes(repr(content)) == content


@pytest.mark.parametrize("case", read_cases("pipelines/adopt", "literals"))
def test_bytes_in_the_notation_of_python_are_decoded(case: dict[str, str]) -> None:
    assert decode_value(case["text"]) == (case["decoded"], True)


@pytest.mark.parametrize("case", read_cases("pipelines/adopt", "no_literals"))
def test_nothing_else_is_parsed(case: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="begins like bytes of Python, and is none"):
        parse_bytes(case["text"])


@needs_real_data
@pytest.mark.parametrize(
    ("layout", "language", "languages"), [("flores101", "ukr", 13), ("flores200", "khm_Khmr", 6)]
)
def test_the_real_flores_is_adopted(
    tmp_path: Path, run: Command, layout: str, language: str, languages: int
) -> None:
    source = DATA / "flores" / f"{layout}_dataset"
    with pytest.raises(InputError, match=r"missing: the split dev, .* files in devtest; --partial"):
        adopted(AdoptConfig("flores101", str(source)))
    folder = adopt(layout, source, tmp_path, partial=True)
    texts = [row["text"] for row in rows_of(folder, "devtest") if row["language"] == language]
    lines = (source / "devtest" / f"{language}.devtest").read_text("utf-8").split("\n")
    assert texts == lines[:-1]
    assert len(texts) == 1012
    assert len(open_build(str(folder)).manifest["rows_by_language"]) == languages
    run("verify", folder, "--workers", "1")
