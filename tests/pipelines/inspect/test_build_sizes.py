from pathlib import Path

import pytest

from corpusmill.pipelines.inspect.build_sizes import (
    BuildSizes,
    KeptDocuments,
    find_sizes,
    newest_of_each_language,
    read_sizes,
    total_of,
)
from corpusmill.pipelines.inspect.report import render_markdown, render_text
from corpusmill.transforms.files.builds.paper_figures import PAPER
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.wikitext.wikis import LANGUAGE_CODES
from tests.makers.fake_builds import SPLITS, WITH_PIECES, sizes, write_build
from tests.makers.finished_builds import manifest_of, seal
from tests.tools.error_of import error_of
from tests.tools.object_store import ObjectStore


def test_a_row(tmp_path: Path) -> None:
    row = read_sizes(str(write_build(tmp_path, "uk", stats=WITH_PIECES)))
    assert row == BuildSizes(
        language="uk",
        dump_date="20260101",
        version="1.2.0",
        articles=1000,
        sections=2000,
        pieces={"train": 3_000_000, "validation": 150_000, "test": 50_000},
        characters={"train": 9_000_000, "validation": 500_000, "test": 300_000},
        characters_per_piece=4.0,  # of validation and test
        coverage=0.999,
        paper_articles=562_612,
        paper_characters_per_piece=4.029,
        paper_bits_per_character=None,  # sentences of lists stay
        edition="uk",
        differs="input of 20260101, --lists sentences",
    )


def test_a_build_without_pieces(tmp_path: Path) -> None:
    row = read_sizes(str(write_build(tmp_path, "el")))
    assert row
    assert (row.pieces, row.characters_per_piece, row.coverage) == ({}, None, None)


def test_a_vocabulary_that_could_not_be_trained_is_none(tmp_path: Path) -> None:
    stats = {split: sizes(1, 10, 0) for split in SPLITS}
    row = read_sizes(str(write_build(tmp_path, "el", stats=stats)))
    assert row
    assert (row.pieces, row.characters_per_piece, row.coverage) == ({}, None, None)


def test_splits_without_text(tmp_path: Path) -> None:
    stats = {"train": sizes(1, 10, 5), "validation": sizes(0, 0, 0), "test": sizes(0, 0, 0)}
    row = read_sizes(str(write_build(tmp_path, "el", stats=stats)))
    assert row
    assert (row.pieces["train"], row.characters_per_piece, row.coverage) == (5, None, None)
    found = find_sizes([str(tmp_path)])
    assert total_of(found.rows).characters_per_piece is None
    render_text(found)


# Finding builds.


def labels(*folders: Path) -> list[str]:
    rows = find_sizes([str(folder) for folder in folders]).rows
    return [f"{row.language} {row.dump_date} {row.version}" for row in rows]


def test_builds_come_by_language_date_and_version(tmp_path: Path) -> None:
    for language, date, version in [
        ("uk", "20260201", "1.2.0"),
        ("uk", "20260101", "1.10.0"),
        ("uk", "20260101", "1.9.0"),
        ("zh-tw", "20260101", "1.2.0"),
        ("en", "latest", "1.2.0"),
    ]:
        write_build(tmp_path / "corpora", language, date, version)
    output = tmp_path / "corpora"
    expected = [
        "en latest 1.2.0",
        "zh-tw 20260101 1.2.0",
        "uk 20260101 1.9.0",
        "uk 20260101 1.10.0",
        "uk 20260201 1.2.0",
    ]
    assert labels(tmp_path) == labels(output) == labels(output / "wiki40b") == expected
    assert labels(output / "wiki40b/uk", output / "wiki40b/en") == [expected[0], *expected[2:]]


def test_a_build_may_be_named_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_build(tmp_path, "uk")
    assert labels(folder) == ["uk 20260101 1.2.0"]
    monkeypatch.chdir(folder)
    assert labels(Path()) == ["uk 20260101 1.2.0"]
    monkeypatch.chdir(tmp_path / "wiki40b")
    assert labels(Path("uk")) == ["uk 20260101 1.2.0"]


def test_a_build_that_is_named_twice_is_one(tmp_path: Path) -> None:
    folder = write_build(tmp_path / "disk", "uk")
    output = tmp_path / "output"
    (output / "wiki40b").mkdir(parents=True)
    (output / "wiki40b" / "uk").symlink_to(folder.parent)
    (output / "loop").symlink_to(output)
    assert labels(output, output / "wiki40b", folder, tmp_path) == ["uk 20260101 1.2.0"]


def test_builds_in_an_object_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_build(tmp_path, "uk", stats=WITH_PIECES)
    write_build(tmp_path, "el", completed=False)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    objects = {f"store://b/{path.relative_to(tmp_path)}": path.read_bytes() for path in files}
    monkeypatch.setattr(ObjectStore, "objects", objects)
    found = find_sizes(["store://b"])
    assert found.rows == find_sizes([str(tmp_path)]).rows
    assert found.unfinished == ["store://b/wiki40b/el/20260101-1.2.0"]


def test_other_corpora_are_passed_over(tmp_path: Path) -> None:
    write_build(tmp_path, "wikidata", corpus="entities", stats={"total": sizes(1, 1)})
    write_build(tmp_path, "multilingual", stats={"64k": sizes(1, 1)})
    write_build(tmp_path, "uk")
    assert labels(tmp_path) == ["uk 20260101 1.2.0"]


def test_unfinished_builds_are_named(tmp_path: Path) -> None:
    write_build(tmp_path, "uk")
    unfinished = write_build(tmp_path, "el", completed=False)
    hidden = tmp_path / "wiki40b" / "uk" / ".20260201-1.2.0.building-x1y2"
    (hidden / "rejected").mkdir(parents=True)
    found = find_sizes([str(tmp_path)])
    assert [row.language for row in found.rows] == ["uk"]
    assert found.unfinished == [str(unfinished), str(hidden)]
    for render in (render_text, render_markdown):
        assert f"not in the table, because unfinished: {unfinished}\n" in render(found)


def sign(folder: Path, signed: str, **facts: object) -> None:
    signature = f"wiki40b|lang:uk|dump:20260101|{signed}|v:1.2.0"
    seal(folder, manifest_of(folder) | {"signature": signature} | facts)


@pytest.mark.parametrize(
    ("settings", "facts", "differs"),
    [
        ("lists:none", {}, ""),
        ("newer-than:20240101", {}, ", --newer-than 20240101, --lists sentences"),
        (
            "lists:none",
            {"settings": {"sentencepiece": {"vocabulary_size": 64_000}}},
            ", --vocabulary-size 64000",
        ),
        (
            "lists:none",
            {"inputs": [{"role": "leave-out", "name": "ids", "bytes": 1, "sha256": "00"}]},
            ", --leave-out, no entity table",
        ),
    ],
)
def test_an_edition_is_beside_the_sizes_of_the_paper_and_says_what_differs(
    tmp_path: Path, settings: str, facts: dict[str, object], differs: str
) -> None:
    usual = write_build(tmp_path, "uk", stats=WITH_PIECES)
    edition = write_build(tmp_path, "uk-other", stats=WITH_PIECES)
    sign(edition, settings, **facts)
    found = find_sizes([str(tmp_path)])
    assert [(row.edition, row.language) for row in found.rows] == [("uk", "uk"), ("uk-other", "uk")]
    other = found.rows[1]
    assert (other.paper_articles, other.differs) == (562_612, f"input of 20260101{differs}")
    assert other.paper_bits_per_character is None  # another number of articles
    assert total_of(found.rows).articles == found.rows[0].articles
    assert newest_of_each_language(found.rows)[0].edition == usual.parent.name


def test_the_score_of_the_paper_is_beside_the_published_numbers_of_articles(tmp_path: Path) -> None:
    folder = write_build(tmp_path, "uk", stats=WITH_PIECES)
    sign(folder, "lists:none", counts={"kept": PAPER["uk"].published})
    (row,) = find_sizes([str(tmp_path)]).rows
    assert (row.paper_bits_per_character, row.differs) == (0.884, "input of 20260101")


def test_an_edition_with_a_limit_has_no_figures_of_the_paper(tmp_path: Path) -> None:
    folder = write_build(tmp_path, "uk-limit-9")
    sign(folder, "lists:none|limit:9", counts={"kept": {"train": 9, "total": 9}})
    found = find_sizes([str(tmp_path)])
    named = "wiki40b", "uk-limit-9", "20260101", "1.2.0", "articles"
    why_not = "not the paper's settings: --limit 9", "input of 20260101, --limit 9"
    assert (found.rows, found.others) == (
        [],
        [KeptDocuments(*named, {"train": 9}, {}, {}, {}, {}, *why_not)],
    )


def test_nothing_is_finished(tmp_path: Path) -> None:
    message = "no finished build of a corpus in this folder or below"
    assert error_of(InputError, find_sizes, [str(tmp_path)]) == f"{tmp_path}: {message}"
    folder = write_build(tmp_path, "el", completed=False)
    for given, named in (
        (str(tmp_path), folder),
        (str(folder), folder),
        (f"{folder}/", f"{folder}/"),
    ):
        expected = f"{given}: {message}; unfinished: {named}"
        assert error_of(InputError, find_sizes, [given]) == expected


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="x: no such folder"):
        find_sizes([str(tmp_path / "x")])


def test_a_build_whose_manifest_was_changed(tmp_path: Path) -> None:
    (write_build(tmp_path, "uk") / "manifest.json").write_text("{")
    with pytest.raises(InputError, match=r"COMPLETED: does not match manifest\.json"):
        find_sizes([str(tmp_path)])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "not JSON: "),
        ("[" * 100_000, "not JSON: "),
        ("[]", "the build is damaged: Expected `object`, got `array`"),
        ('{"train": {}}', "the build is damaged: Object missing required field `articles`"),
        ("{}", "the build is damaged: there are no counts of test, total, train, validation"),
        (None, "the build is damaged: "),
    ],
)
def test_damaged_counts(tmp_path: Path, content: str | None, message: str) -> None:
    path = write_build(tmp_path, "uk") / "stats.json"
    path.unlink()
    if content:
        path.write_text(content)
    assert error_of(InputError, find_sizes, [str(tmp_path)]).startswith(f"{path}: {message}")


# The total.


def test_the_total_is_of_the_newest_build_of_each_language(tmp_path: Path) -> None:
    write_build(tmp_path, "uk", "20250101", stats={split: sizes(10**6, 10**9) for split in SPLITS})
    write_build(tmp_path, "uk", "20260101", stats=WITH_PIECES)
    more = {
        "train": sizes(1, 100, 10),
        "validation": sizes(2, 200_000, 50_000, byte_characters=1_200),
        "test": sizes(3, 0, 0),
    }
    write_build(tmp_path, "tl", stats=more)
    found = find_sizes([str(tmp_path)])
    total = total_of(found.rows)
    assert (total.articles, total.sections) == (1006, 2012)
    assert total.pieces == {"train": 3_000_010, "validation": 200_000, "test": 50_000}
    assert total.characters == {"train": 9_000_100, "validation": 700_000, "test": 300_000}
    assert total.characters_per_piece == 4.0
    assert total.coverage == pytest.approx(1 - 2_000 / 1_000_000)
    assert total.paper_articles == 562_612 + 30_586
    assert total.paper_characters_per_piece == pytest.approx(
        (45_625_835 + 46_442_543 + 1_279_276 + 1_232_607)
        / (11_334_897 + 11_514_315 + 300_620 + 286_789)
    )
    assert (
        "note: Total is the sum over the newest build of each language, in its first edition here\n"
        in render_text(found)
    )


def test_the_total_of_all_languages_is_that_of_the_paper(tmp_path: Path) -> None:
    for language in LANGUAGE_CODES:
        write_build(tmp_path, language)
    total = total_of(find_sizes([str(tmp_path)]).rows)
    assert total.paper_articles == 19_507_552
    assert f"{total.paper_characters_per_piece:.3f}" == "4.101"
    assert total.articles == 4100


def test_pieces_are_not_added_up_where_a_build_has_none(tmp_path: Path) -> None:
    write_build(tmp_path, "uk", stats=WITH_PIECES)
    write_build(tmp_path, "el")
    total = total_of(find_sizes([str(tmp_path)]).rows)
    assert (total.pieces, total.characters_per_piece, total.coverage) == ({}, None, None)
    assert total.characters["test"] == 300_400
