import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from corpusmill.pipelines.run.launch import launch
from corpusmill.pipelines.wiki40b_multilingual import Wiki40bMultilingual, newest_builds
from corpusmill.pipelines.wiki40b_multilingual_settings import VERSION, MultilingualConfig, name_of
from corpusmill.transforms.files.builds.finished_builds import find_builds
from corpusmill.transforms.files.builds.ledger import AccountingError
from corpusmill.transforms.files.builds.paper_figures import CHARACTERS_PER_PIECE
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import CorpusStats
from corpusmill.transforms.files.text import SPLITS
from corpusmill.transforms.models import subword_models
from corpusmill.transforms.wikitext.article_markers import add_stats, measure_article
from tests.makers.finished_builds import make_build, manifest_of, seal, text_of
from tests.makers.wiki_builds import Build, files_below, outputs_below, run_cli
from tests.tools.case_tables import read_cases
from tests.tools.golden_tree import tree_of

Ids = Mapping[str, Sequence[Sequence[str]]]

UK: Ids = {
    "train": [["Річка", "Вода", "Море"], [], ["Озеро", "Гора"]],
    "validation": [["Степ"]],
    "test": [["鬱é", "Ліс"]],
}
EL: Ids = {"train": [["Θάλασσα"]], "validation": [["Βουνό"]]}
JA: Ids = {"train": [["富士山", "川"], ["海", "山"]], "test": [["湖"]]}
SAMPLE = ["Θάλασσα", "富士山", "川", "海", "Річка", "Вода", "Море"]  # of each the first three


def build(output: Path, edition: str, ids: Ids, **more: Any) -> Path:
    """A finished build whose manifest has stats, also of pieces where `pieces` gives their number."""
    pieces = more.pop("pieces", None)
    stats = {
        split: add_stats(measure_article(text_of(i)) for file in ids.get(split, []) for i in file)
        for split in SPLITS
    }
    stats["total"] = add_stats(list(stats.values()))
    counts = {split: one._asdict() for split, one in stats.items()}
    for split in counts if pieces else ():
        counts[split]["pieces"] = pieces
    return make_build(output, edition, ids, stats=counts, **more)


@pytest.fixture
def corpora(tmp_path: Path) -> Path:
    folder = tmp_path / "corpora"
    build(folder, "uk", UK, pieces=10)
    build(folder, "el", EL, date="20260201")
    build(folder, "ja", JA)
    return folder


def config(*folders: Path, **settings: Any) -> MultilingualConfig:
    given = {"vocabulary_sizes": [320, 300], "sample_articles": 3} | settings
    return MultilingualConfig([str(folder) for folder in folders], **given)


def make(output: Path, settings: MultilingualConfig, workers: int = 1) -> Path:
    corpus = Wiki40bMultilingual(settings)
    launch(corpus, str(output), workers=workers)
    return output.joinpath(*corpus.path)


def read(folder: Path, name: str) -> Any:
    return json.loads((folder / name).read_text("utf-8"))


def test_the_vocabularies_are_learned_from_the_first_articles_of_each_language(
    corpora: Path, tmp_path: Path
) -> None:
    folder = make(tmp_path / "out", config(corpora))
    assert folder == tmp_path / "out" / "wiki40b" / "multilingual-3" / f"20260201-{VERSION}"
    assert files_below(folder) == [
        "COMPLETED",
        "README.md",
        "manifest.json",
        "sentencepiece/multilingual-300.model",
        "sentencepiece/multilingual-300.vocab",
        "sentencepiece/multilingual-320.model",
        "sentencepiece/multilingual-320.vocab",
        "stats.json",
    ]
    stats = read(folder, "stats.json")
    assert list(stats) == ["300", "320"]
    for size in (300, 320):
        model = (folder / "sentencepiece" / f"multilingual-{size}.model").read_bytes()
        assert model == subword_models.train_model(
            map(text_of, SAMPLE), subword_models.SubwordSettings(size)
        )
        count = subword_models.SubwordCounter(model).count
        assert stats[str(size)] == {
            edition: {
                split: subword_models.add_subword_stats(
                    count(text_of(i)) for file in ids.get(split, []) for i in file
                )._asdict()
                for split in SPLITS
            }
            for edition, ids in (("el", EL), ("ja", JA), ("uk", UK))
        }
    # 鬱, é, Л and с are not in the sample; each stands in a title and in a text.
    assert stats["320"]["uk"]["test"]["byte_characters"] == 8


def test_the_manifest(corpora: Path, tmp_path: Path) -> None:
    folder = make(tmp_path / "out", config(corpora))
    manifest = read(folder, "manifest.json")
    assert manifest["signature"] == (
        f"wiki40b-vocabulary|lang:multilingual-3|dump:20260201|v:{VERSION}"
    )
    assert manifest["counts"] == {"sampled": {"el": 1, "ja": 3, "uk": 3}}
    ids = "".join(f"{identity}\t7\n" for identity in SAMPLE)
    for name, size in (("300", 300), ("320", 320)):
        found = manifest["sentencepiece"][name]
        assert found == {
            "vocabulary_size": found["vocabulary_size"],
            "sampled_articles": 7,
            "sample_sha256": hashlib.sha256(ids.encode()).hexdigest(),
            "reason": "",
        }
        assert 263 < found["vocabulary_size"] <= size
    assert [(file["role"], file["name"], file["sha256"]) for file in manifest["inputs"]] == [
        (f"wiki40b|lang:{edition}|dump:{date}|v:1.0.0", "manifest.json", digest)
        for edition, date in (("el", "20260201"), ("ja", "20260101"), ("uk", "20260101"))
        for digest in [
            hashlib.sha256(
                (corpora / "wiki40b" / edition / f"{date}-1.0.0" / "manifest.json").read_bytes()
            ).hexdigest()
        ]
    ]
    Build(folder).check_files()
    assert len(manifest["outputs"]) == 6
    settings = manifest["settings"]
    assert settings["vocabularies"] == {"300": 300, "320": 320}
    assert settings["builds"] == {
        one.edition: one.sha256 for one in find_builds([str(corpora / "wiki40b")], "wiki40b")
    }
    assert list(settings["builds"]) == ["el", "ja", "uk"]
    assert settings["sample_articles"] == 3
    assert manifest["caveats"] == [
        "Learned from 3 languages: el, ja, uk. The paper's are learned from 41; pieces are longer if"
        " fewer languages share them.",
        "Languages with fewer than 3 articles of train, which weigh less than the others: el 1.",
        "The dumps are of different dates: 20260101, 20260201.",
    ]
    assert "sentencepiece" in manifest["code"]


def test_the_card_has_the_figures_beside_those_of_the_paper(corpora: Path, tmp_path: Path) -> None:
    folder = make(tmp_path / "out", config(corpora, vocabulary_sizes=[64_000]))
    stats = read(folder, "stats.json")["64k"]
    lines = (folder / "README.md").read_text("utf-8").splitlines()
    head = "| language | own | paper 32k | 64k | paper 64k | coverage 64k |"
    assert f"{head} what differs from the paper |" in lines
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    found = {row[0]: row[1:] for row in rows if row and row[0] in ("el", "ja", "uk")}
    of_uk = [stats["uk"][split] for split in ("validation", "test")]
    characters = sum(one["characters"] for one in of_uk)
    uk = (
        f"{characters / 20:.3f}",
        f"{CHARACTERS_PER_PIECE['uk'][0]:.3f}",
        f"{characters / sum(one['pieces'] for one in of_uk):.3f}",
        f"{CHARACTERS_PER_PIECE['uk'][1]:.3f}",
        f"{100 - 100 * sum(one['byte_characters'] for one in of_uk) / characters:.2f} %",
        "input of 20260101, --lists sentences",
    )
    assert found["uk"] == list(uk)
    assert found["el"][:2] == ["–", "4.331"]
    assert found["ja"][3] == "1.434"


def test_the_card_has_no_figures_of_the_paper_beside_a_limit(corpora: Path, tmp_path: Path) -> None:
    build(corpora, "uk", UK, date="20260301", pieces=10, settings={"limit": 9})
    lines = (make(tmp_path / "out", config(corpora)) / "README.md").read_text("utf-8").splitlines()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    paper_32k = {row[0]: row[2] for row in cells if row and row[0] in ("el", "ja", "uk")}
    assert paper_32k == {"el": "4.331", "ja": "1.930", "uk": "–"}
    flags = "--lists sentences, --limit 9"
    assert f"- No figures of the paper beside uk: not the paper's settings: {flags}." in lines


@pytest.mark.slow
def test_the_same_bytes_whatever_the_order_of_the_builds_and_the_workers(
    corpora: Path, tmp_path: Path
) -> None:
    one = tree_of(make(tmp_path / "one", config(corpora)))
    folders = [corpora / "wiki40b" / edition for edition in ("uk", "el", "ja")]
    assert tree_of(make(tmp_path / "two", config(*folders), workers=2)) == one
    twice = config(*folders[::-1], corpora, vocabulary_sizes=[300, 320])
    assert tree_of(make(tmp_path / "three", twice)) == one


def test_a_language_without_train_is_counted_but_not_learned_from(tmp_path: Path) -> None:
    build(tmp_path / "c", "uk", UK)
    build(tmp_path / "c", "el", {"test": [["Βουνό"]]})
    folder = make(tmp_path / "out", config(tmp_path / "c"))
    assert read(folder, "manifest.json")["counts"] == {"sampled": {"el": 0, "uk": 3}}
    el = read(folder, "stats.json")["300"]["el"]
    assert el["test"]["characters"] == measure_article(text_of("Βουνό")).characters
    assert el["train"]["pieces"] == 0


def test_without_any_text_there_is_no_vocabulary_but_a_reason(tmp_path: Path) -> None:
    build(tmp_path / "c", "uk", {"test": [["Ліс"]]})
    folder = make(tmp_path / "out", config(tmp_path / "c"))
    assert files_below(folder) == ["COMPLETED", "README.md", "manifest.json", "stats.json"]
    assert read(folder, "stats.json") == {}
    reasons = {
        name: one["reason"] for name, one in read(folder, "manifest.json")["sentencepiece"].items()
    }
    assert reasons == dict.fromkeys(("300", "320"), "there is no text to learn from")
    card = (folder / "README.md").read_text("utf-8")
    assert "- There is no 300: there is no text to learn from" in card


def test_characters_that_are_not_those_of_the_build(corpora: Path, tmp_path: Path) -> None:
    folder = corpora / "wiki40b" / "el" / "20260201-1.0.0"
    manifest = manifest_of(folder)
    manifest["stats"]["validation"] = CorpusStats(characters=77)._asdict()
    seal(folder, manifest)
    with pytest.raises(
        (AccountingError, RuntimeError),
        match="do not add up to the 77 characters of validation of el",
    ):
        make(tmp_path / "out", config(corpora))
    assert outputs_below(tmp_path / "out") == []


def test_the_newest_build_of_each_language_is_taken(tmp_path: Path) -> None:
    for date, version in (
        ("20260101", "1.0.0"),
        ("20260301", "1.2.0"),
        ("20260301", "1.10.0"),
        ("latest", "2.0.0"),
    ):
        build(tmp_path, "uk", UK, date=date, version=version)
    build(tmp_path, "el", EL, date="latest")
    build(tmp_path, "ja", JA, date="20260201")
    found = newest_builds(find_builds([str(tmp_path)], "wiki40b"))
    assert [one.name for one in found] == [
        "el/latest-1.0.0",
        "ja/20260201-1.0.0",
        "uk/20260301-1.10.0",
    ]
    assert Wiki40bMultilingual(config(tmp_path)).dump_date == "20260301"


@pytest.mark.parametrize(
    ("editions", "edition"),
    read_cases(
        "pipelines/wiki40b_multilingual", "corpora_of_other_settings_have_vocabularies_of_their_own"
    ),
)
def test_corpora_of_other_settings_have_vocabularies_of_their_own(
    tmp_path: Path, editions: Sequence[str], edition: str
) -> None:
    for name in editions:
        build(tmp_path, name, EL, settings={"language": name[:2]})
    assert Wiki40bMultilingual(config(tmp_path)).edition == edition


def test_stats_of_a_build_whose_manifest_has_none(corpora: Path) -> None:
    folder = corpora / "wiki40b" / "ja" / "20260101-1.0.0"
    manifest = manifest_of(folder)
    (folder / "stats.json").write_text(json.dumps(manifest.pop("stats")), "utf-8")
    seal(folder, manifest)
    characters = sum(
        measure_article(text_of(row["wikidata_id"])).characters
        for path in folder.glob("*.parquet")
        for row in pq.read_table(path).to_pylist()
    )
    corpus = Wiki40bMultilingual(config(corpora))
    assert corpus.stats["ja"]["total"]["characters"] == characters
    assert corpus.bytes_to_read(1) == sum(
        one["total"]["text_bytes"] for one in corpus.stats.values()
    )


def test_a_folder_without_builds(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no finished build"):
        Wiki40bMultilingual(config(tmp_path))
    build(tmp_path, "uk", UK, corpus="lm1b")
    with pytest.raises(InputError, match="no finished build of wiki40b in this folder or below"):
        Wiki40bMultilingual(config(tmp_path))


def test_the_paper_s_vocabularies_are_the_default_and_have_short_names() -> None:
    assert {
        name: (one.vocabulary_size, one.sample_articles)
        for name, one in MultilingualConfig(["x"]).vocabularies().items()
    } == {"64k": (64_000, 10_000), "128k": (128_000, 10_000)}
    assert (name_of(300), name_of(1_500)) == ("300", "1500")


def test_the_command(corpora: Path, tmp_path: Path) -> None:
    flags = [
        "--output",
        tmp_path,
        "--workers",
        1,
        "--vocabulary-sizes",
        320,
        "--sample-articles",
        2,
    ]
    assert run_cli("multilingual", "--corpora", corpora, *flags) == 0
    folder = tmp_path / "wiki40b" / "multilingual-3" / f"20260201-{VERSION}"
    assert read(folder, "manifest.json")["counts"] == {"sampled": {"el": 1, "ja": 2, "uk": 2}}
    assert list(read(folder, "stats.json")) == ["320"]
