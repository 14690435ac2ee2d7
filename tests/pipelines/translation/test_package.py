"""The package: what is in it, to the byte, and what is not."""

import json
import re
import runpy
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import yaml

from corpusmill.pipelines.adopt_corpora import adopted
from corpusmill.pipelines.adopt_settings import AdoptConfig
from corpusmill.pipelines.inspect.build_facts import find_document
from corpusmill.pipelines.inspect.html_report.make_report import make_report
from corpusmill.pipelines.inspect.verify import verify
from corpusmill.pipelines.run.launch import launch
from corpusmill.pipelines.run.publish import TargetError
from corpusmill.pipelines.translation.checks import check_language
from corpusmill.pipelines.translation.imports import import_files
from corpusmill.pipelines.translation.package import (
    PLUS,
    Included,
    Packaged,
    make_card,
    make_metadata,
    make_rows,
    package,
)
from corpusmill.pipelines.translation.project import Project, Rules, create_project, open_project
from corpusmill.pipelines.translation.score_translations import score_translations
from corpusmill.pipelines.translation.send_packets import send_packets
from corpusmill.pipelines.translation.target_languages import find_language
from corpusmill.pipelines.translation.workflow import REQUIREMENTS
from corpusmill.transforms.files.builds.check_builds import find_unlisted
from corpusmill.transforms.files.builds.finished_builds import open_build
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.translation.source_table import METADATA_COLUMNS, splits_of
from tests.makers.spm_models import small_model
from tests.makers.wiki_builds import Command
from tests.pipelines.translation import small_projects
from tests.tools.case_tables import read_cases

TRICKY = {
    "dev": (" Il pleut. ", 'Dit "oui"', "a\u00a0: \u2028b"),
    "devtest": ("雨だ。", "\\n, \\t", "e\u0301\u0085"),
    "test": ("-", "\ufeff0"),
}


def content_of(split: str, extra: str = "") -> bytes:
    """A file of translations of one split."""
    return "".join(f"{line}{extra}\n" for line in TRICKY[split]).encode()


def translate(project: Project, folder: Path, code: str, extra: str = "") -> None:
    """Sends, imports and checks plain files."""
    send_packets(project, [find_language(code)], formats=["tsv"])
    folder.mkdir()
    for split in TRICKY:
        (folder / f"{code}.{split}").write_bytes(content_of(split, extra))
    import_files(project, [str(folder)], by="Ama")
    check_language(project, find_language(code))


@pytest.fixture(scope="module")
def translated(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Two languages that have passed the checks, one that failed, and one of which nothing is back."""
    folder = tmp_path_factory.mktemp("translated")
    project = small_projects.small_project(folder / "project", review_share=Fraction(1, 2))
    with pytest.MonkeyPatch.context() as patch:
        small_projects.use_checks(patch, small_projects.find_bad)
        for code, extra in (("fra", ""), ("zho_simpl", "。"), ("deu", " BAD")):
            translate(project, folder / code, code, extra)
        send_packets(project, [find_language("ara")])
    return project


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, translated: Project) -> Packaged:
    """Its package, with the withheld split."""
    output = str(tmp_path_factory.mktemp("made"))
    return package(translated, output, without_review=True, with_test=True)


@pytest.fixture(scope="module")
def there(made: Packaged) -> dict[str, bytes]:
    """The files of the package."""
    return small_projects.tree(Path(made.folder))


def test_a_report_has_its_languages(made: Packaged) -> None:
    page = make_report([made.folder])
    assert "Translations into 2 languages, 0 of them reviewed." in page
    assert "deu is left out: " in page  # a caveat
    assert re.search(">eng\n.*They say.*\n\nfra\n", page)  # a document
    assert re.search("<h1>flores101 [^<]*/1.0.0</h1>", page)  # a package has no date
    assert "<b>Devtest</b>" in page  # the page at an address


def test_texts_and_metadata_to_the_byte(made: Packaged, there: dict[str, bytes]) -> None:
    splits = ("dev", "devtest", "test")
    lines = (f"{split}/{code}.{split}" for split in splits for code in ("eng", "fra", "zho_simpl"))
    assert made.folder.endswith("/flores101/flores101/1.0.0")
    assert sorted(there) == sorted(
        [
            *("COMPLETED", "README.md", "manifest.json", "test/metadata_test.tsv"),
            *("dev-00000-of-00001.parquet", "devtest-00000-of-00001.parquet"),
            *("metadata_dev.tsv", "metadata_devtest.tsv", "test/test-00000-of-00001.parquet"),
            *lines,
        ]
    )
    assert find_unlisted(open_build(made.folder)) == []
    assert verify([made.folder], workers=1).is_sound
    for split in splits:
        assert there[f"{split}/fra.{split}"] == content_of(split)
        assert there[f"{split}/zho_simpl.{split}"] == content_of(split, "。")
        english = "".join(f"{text}\n" for text in small_projects.TEXTS[split]).encode()
        assert there[f"{split}/eng.{split}"] == english
    assert there["metadata_dev.tsv"] == (
        b"URL\tdomain\ttopic\thas_image\thas_hyperlink\n"
        b"https://en.wikinews.org/wiki/Dev\twikinews\tnature\tyes\tno\n"
        b"https://en.wikinews.org/wiki/Dev\twikinews\tnature\tno\tyes\n"
        b"https://en.wikinews.org/wiki/Dev\twikinews\tnature\tno\tno\n"
    )


def test_rows_with_all_languages(made: Packaged) -> None:
    table = pq.read_table(f"{made.folder}/devtest-00000-of-00001.parquet")
    assert table.column_names == [
        *("id", "url", "domain", "topic", "has_image", "has_hyperlink", "article"),
        *("sentence_eng", "sentence_fra", "sentence_zho_simpl"),
    ]
    assert table.schema.metadata == {
        b"corpusmill.signature": made.manifest["signature"].encode(),
        b"corpusmill.version": b"1.0.0",
        b"corpusmill.license": b"cc-by-sa-4.0",
    }
    assert table["id"].to_pylist() == [
        name for name in small_projects.IDS if name.startswith("devtest")
    ]
    assert table["sentence_eng"].to_pylist() == list(small_projects.TEXTS["devtest"])
    assert table["sentence_fra"].to_pylist() == list(TRICKY["devtest"])
    assert table["has_image"].to_pylist() == [True, False, False]
    assert table["article"].to_pylist() == ["wikinews:7"] * 3


def test_the_newest_version_is_what_is_loaded_from_the_folder_above(
    tmp_path: Path, translated: Project
) -> None:
    for version in ("1.10.0", "1.9.0"):
        package(translated, str(tmp_path / "out"), without_review=True, version=version)
    corpus = tmp_path / "out" / "flores101"
    heads = [
        yaml.safe_load((folder / "README.md").read_text("utf-8").split("---\n")[1])
        for folder in (corpus, corpus / "flores101")
    ]
    assert [[one["config_name"] for one in head["configs"]] for head in heads] == [
        ["flores101"],
        ["1.10.0", "1.9.0"],
    ]
    files = [{"split": s, "path": f"flores101/1.10.0/{s}-*.parquet"} for s in ("dev", "devtest")]
    assert heads[0]["configs"][0]["data_files"] == files


def test_the_manifest_says_what_is_in_it_and_what_is_not(
    tmp_path: Path, translated: Project
) -> None:
    made = package(translated, str(tmp_path), without_review=True, version="2.0")
    manifest, there = open_build(made.folder).manifest, small_projects.tree(Path(made.folder))
    project = f"project:{translated.key}"
    assert manifest["signature"] == f"flores101|{project}|langs:3|splits:dev+devtest|v:2.0"
    assert manifest["counts"]["kept"] == {"dev": 3, "devtest": 3, "total": 6}
    assert list(manifest["languages"]) == ["eng", "fra", "zho_simpl"]
    assert manifest["languages"]["fra"]["score"] is None
    assert manifest["caveats"] == [
        "ara is left out: sent: 8 sentences have no translation",
        "deu is left out: checks failed",
    ]
    assert {file["name"] for file in manifest["outputs"]} == set(there) - {
        "manifest.json",
        "COMPLETED",
    }
    assert not [name for name in there if name.startswith("test/")]  # the withheld split
    card = there["README.md"].decode()
    assert "- zh-Hans\n" in card
    assert "| fra | French | Latn | not reviewed |" in card
    assert "| eng | English | Latn | source |" in card
    assert "- deu is left out: checks failed" in card


def test_participants_get_the_english_sentences(translated: Project, tmp_path: Path) -> None:
    folder = Path(package(translated, str(tmp_path), without_review=True, test_source=True).folder)
    english = "".join(f"{text}\n" for text in small_projects.TEXTS["test"])
    assert (folder / "test/eng.test").read_text("utf-8") == english
    assert [path.name for path in (folder / "test").iterdir()] == ["eng.test"]
    assert "files with names like `eng-fra.test`" in (folder / "README.md").read_text("utf-8")
    assert verify([str(folder)], workers=1).is_sound


def test_the_card_has_table_4_and_the_people(project: Project) -> None:
    manifest = {"signature": "", "counts": {"kept": {"dev": 3}}, "caveats": []}
    known = dict.fromkeys(
        ("first", "further", "whole", "changed", "major_or_critical", "critical", "unnatural")
    )
    fra = {**known, "again": 0, "first": 10.0, "further": 0.0, "whole": 10.0, "changed": 0.125}
    deu = {**known, "again": 2, "first": 11.0, "further": 20.5, "whole": 31.5}
    ukr = {**known, "again": None}
    ama = dict.fromkeys(REQUIREMENTS)
    included = [
        Included("eng", {}, None, ""),
        Included("deu", {}, "91.0", "", 3, 31.5, 8, {"Ama": {**ama, "english": True}}, deu),
        Included("fra", {}, "95.7", "", 1, 10.0, 0, {"Ben": {**ama, "english": False}}, fra),
        Included("ukr", {}, None, "", 1, 3.0, 0, {}, ukr),
    ]
    card = make_card(project, manifest, included)
    for line in read_cases("translation/workflow", "lines_of_card"):
        assert f"| {line} |" in card


def test_a_sentence_of_a_package_has_all_languages(made: Packaged, translated: Project) -> None:
    ((_, sentences), *_) = splits_of(translated.sentences)
    (origin,) = find_document(made.folder, sentences[0].id)
    assert origin.fate == "kept in dev"
    assert origin.text.startswith(f"eng\n{sentences[0].text}\n\nfra\n")
    assert not [name for name, _ in origin.facts if name.startswith("sentence_")]


def test_packages_are_compared_by_sentence_and_language(tmp_path: Path, run: Command) -> None:
    folders = []
    for version, languages in (("1.0.0", {"fra": ""}), ("1.1.0", {"fra": "!", "zho_simpl": ""})):
        project = small_projects.small_project(tmp_path / version, review_share=Fraction(1, 2))
        with pytest.MonkeyPatch.context() as patch:
            small_projects.use_checks(patch, small_projects.find_bad)
            for code, extra in languages.items():
                translate(project, tmp_path / f"{version}-{code}", code, extra)
        given = {"version": version, "without_review": True, "with_test": True}
        folders.append(package(project, str(tmp_path / "out"), **given).folder)
    report = tmp_path / "changes.tsv"
    printed = run("compare", *folders, "--report", str(report), "--workers", "1").out
    assert "languages: eng fra → eng fra zho_simpl" in printed
    (total,) = (line.split() for line in printed.splitlines() if line.strip().startswith("total"))
    assert total == ["total", "16", "24", "8", "0", "8", "8", "0", "0"]
    assert "changed:\n  dev-0001-fra\n" in printed
    lines = [line.split("\t") for line in report.read_text().splitlines()]
    assert [line[0] for line in lines if line[2:4] == ["changed", "test"]] == [
        *("test-0001-fra", "test-0002-fra")
    ]


@pytest.fixture(scope="module")
def plus(tmp_path_factory: pytest.TempPathFactory, translated: Project) -> Path:
    """The package in the layout of FLORES+."""
    output = str(tmp_path_factory.mktemp("plus"))
    return Path(package(translated, output, without_review=True, layout=PLUS).folder)


@pytest.fixture(scope="module")
def readopted(plus: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("adopted")
    config = AdoptConfig("flores101", str(plus), partial=True)
    launch(adopted(config), str(output), workers=1, is_sample=True)
    return next(output.glob("flores101/mul-floresplus-released-partial/*/COMPLETED")).parent


NAMES = {"eng": "eng_Latn_stan1293", "fra": "fra_Latn_stan1290", "zho_simpl": "cmn_Hans_beij1234"}


def test_rows_of_flores_plus_are_counted_as_translations_and_not_compared(
    plus: Path, run: Command
) -> None:
    assert re.search("flores101-plus +translations +dev 9, devtest 9", run("report", plus).out)
    refused = run("compare", plus, plus, status=2).err
    assert "packages of --layout flores+ are not compared" in refused


def test_the_files_of_flores_plus_are_adopted_without_loss(plus: Path, readopted: Path) -> None:
    names = [code.rpartition("_")[0] for code in NAMES.values()]
    assert {str(path.relative_to(plus)) for path in plus.rglob("*") if path.is_file()} == {
        *(f"{split}/{name}.parquet" for split in ("dev", "devtest") for name in names),
        *(f"dataset_cards/{name}.md" for name in names[1:]),
        *("COMPLETED", "README.md", "manifest.json"),
    }
    assert verify([str(plus), str(readopted)], workers=1).is_sound
    for split in ("dev", "devtest"):
        again = {
            (row["language"], row["number"]): row
            for row in pq.read_table(readopted / f"{split}-00000-of-00001.parquet").to_pylist()
        }
        assert len(again) == 9
        for code, of_plus in NAMES.items():
            language = of_plus.rpartition("_")[0]
            rows = pq.read_table(plus / split / f"{language}.parquet").to_pylist()
            english, ends = small_projects.TEXTS[split], "。" * (code != "fra")
            texts = english if code == "eng" else [f"{text}{ends}" for text in TRICKY[split]]
            assert [(row["id"], row["text"]) for row in rows] == list(enumerate(texts))
            for row in rows:
                codes = (row[one] for one in ("iso_639_3", "iso_15924", "glottocode"))
                assert ("_".join(codes), row["last_updated"]) == (of_plus, "1.0.0")
                booleans = {name: row[name] == "yes" for name in ("has_image", "has_hyperlink")}
                kept = {**row, **booleans}
                number = kept.pop("id")
                assert kept.items() <= again[language, number].items()
                assert again[language, number]["id"] == f"{split}-{number:04}-{of_plus}"


def test_a_card_of_flores_plus_says_what_is_known_and_what_is_to_be_filled_in(
    plus: Path, translated: Project, tmp_path: Path
) -> None:
    card = (plus / "dataset_cards/cmn_Hans.md").read_text("utf-8")
    assert re.findall("^#+ .*", card, re.MULTILINE) == [
        *("# Dataset card", "## Description", "## License", "## Attribution", "## Language codes"),
        *("## Additional language information", "## Workflow", "## Additional guidelines"),
    ]
    known = ["CC-BY-SA-4.0", "* ISO 639-3: cmn", "* ISO 15924: Hans", "* Glottocode: beij1234"]
    assert {*known} <= {*card.splitlines()}
    assert "*To be filled in: the number of translators" in card  # the record has none
    assert card.count("*To be filled in: ") == 6
    head = yaml.safe_load((plus / "README.md").read_text("utf-8").split("---\n")[1])
    assert [one["config_name"] for one in head["configs"]] == [
        *("default", "eng_Latn", "fra_Latn", "cmn_Hans")
    ]
    folder = shutil.copytree(translated.folder, tmp_path / "project")
    row = "Ama", "zho_simpl", "yes", "", "", "", ""
    columns = "name", "language", "native", "english", "degree", "years", "tested"
    record = "".join("\t".join(cells) + "\n" for cells in (columns, row))
    (folder / "translators.tsv").write_text(record, "utf-8")
    given = {"without_review": True, "layout": PLUS}
    made = package(open_project(str(folder)), str(tmp_path), **given)
    card = Path(made.folder, "dataset_cards/cmn_Hans.md").read_text("utf-8")
    assert "Number of translators and editors: 1\n" in card
    assert "| C1 or C2 in English | 0 | 0 | 1 |" in card  # to be filled in
    assert card.count("*To be filled in: ") == 5


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"with_test": True}, "FLORES[+] has no split test"),
        ({"varieties": ["deu=deu_Latn_stan1295"]}, "deu is not in the package"),
        ({"varieties": ["fra"]}, "--variety fra: give one CODE=xxx_Xxxx_xxxx1234 a language"),
        ({"varieties": ["fra="]}, "--variety fra=: give one CODE=xxx_Xxxx_xxxx1234 a language"),
        ({"varieties": ["fra=fra_Latn_a", "fra=fra_Latn_b"]}, "=fra_Latn_b: give one CODE="),
        ({"varieties": ["fra=xxx_Latn_stan1290"]}, 'no language "xxx_Latn"'),
        ({"varieties": ["fra=fra"]}, "fra: 'fra' is no code of FLORES[+]: give --variety fra="),
        ({"varieties": ["zho_simpl=zho_Hans_beij1234"]}, "zho is a macrolanguage"),
        ({"varieties": ["fra=hbs_Latn_sout1528"]}, "hbs is a macrolanguage"),
        ({"varieties": ["fra=cmn_Hans_beij1234"]}, "two languages have the code cmn_Hans_beij"),
        ({"varieties": ["fra=fra_Latn_stan1290"], "layout": "flores101"}, "only allowed with"),
    ],
)
def test_settings_of_flores_plus_that_are_refused(
    translated: Project, tmp_path: Path, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        package(translated, str(tmp_path), **{"without_review": True, "layout": PLUS, **given})
    assert not any(tmp_path.iterdir())


def test_varieties_of_a_language_and_script_have_files_of_their_own(
    translated: Project, tmp_path: Path
) -> None:
    given = {"varieties": ["zho_simpl=fra_Latn_xxxx1234"], "layout": PLUS, "without_review": True}
    made = package(translated, str(tmp_path), **given)
    folder = Path(made.folder)
    names = ["eng_Latn", "fra_Latn_stan1290", "fra_Latn_xxxx1234"]
    assert sorted(path.stem for path in (folder / "dev").iterdir()) == names
    assert made.manifest["settings"]["varieties"] == given["varieties"]
    assert "|varieties:zho_simpl=fra_Latn_xxxx1234|" in made.manifest["signature"]
    card = (folder / "dataset_cards/fra_Latn_xxxx1234.md").read_text("utf-8")
    assert "French translations of the sentences" in card
    readme = (folder / "README.md").read_text("utf-8")
    assert "| zho_simpl | French | Latn |" in readme
    assert "language:\n- en\n- fr\n" in readme


def test_scores_and_tasks_take_flores_plus_and_what_is_adopted_of_it(
    translated: Project, plus: Path, readopted: Path, tmp_path: Path, run: Command
) -> None:
    """The scores are those of the texts as FLORES-101 has them."""
    texts = Path(package(translated, str(tmp_path), without_review=True).folder)
    (tmp_path / "spm.model").write_bytes(small_model())
    backwards = tmp_path / "backwards"
    for split in ("dev", "devtest"):
        (backwards / split).mkdir(parents=True)
        rows = pq.read_table(plus / split / "cmn_Hans.parquet")
        pq.write_table(rows.take([2, 1, 0]), backwards / split / "cmn_Hans.parquet")
    found = []
    for reference, name in (
        (texts, "eng-zho_simpl"),
        (plus, "eng_Latn-cmn_Hans"),
        (plus / "devtest", "eng_Latn-cmn_Hans"),
        (readopted, "eng_Latn-cmn_Hans"),
        (backwards, "eng_Latn-cmn_Hans"),
    ):
        hypotheses = tmp_path / f"sent{len(found)}"
        hypotheses.mkdir()
        lines = ["雨だ。。", "\\n, \\t", "é 。"]
        (hypotheses / f"{name}.devtest").write_text("".join(f"{line}\n" for line in lines), "utf-8")
        model = str(tmp_path / "spm.model")
        (scored,) = score_translations(str(reference), [str(hypotheses)], model=model).scored
        found.append(dict(scored.scores.groups[0].scores))
    assert found == [found[0]] * 5
    with pytest.raises(InputError, match=r"there is no reference cmn_Hans\.devtest"):
        score_translations(str(backwards / "dev"), [str(hypotheses)], model=model)
    for build in (plus, readopted):
        tasks = tmp_path / f"tasks-{build.name}"
        given = (build, "--output", tasks, "--split", "devtest", "--model", tmp_path / "spm.model")
        names = run("harness", *given).out.split()
        assert len(names) == 4
        assert names[0].endswith("_eng_latn_cmn_hans_devtest")
        module = runpy.run_path(str(tasks / "corpusmill_task.py"))
        rows = [
            {"target": line, "model": str(tmp_path / "spm.model")}
            for line in (f"{text}。" for text in TRICKY["devtest"])
        ]
        scored = [
            module["process_translation"](row, [line])
            for row, line in zip(rows, lines, strict=True)
        ]
        for metric, function in (("spBLEU", "spbleu"), ("chrF++", "chrf")):
            value = module[function]([one[metric] for one in scored])
            assert value == pytest.approx(found[0][metric], abs=1e-9)


def test_only_what_is_accepted_unless_asked(tmp_path: Path, translated: Project) -> None:
    with pytest.raises(ValueError, match=r"no language to package: ara: sent.*; fra: checked"):
        package(translated, str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_the_withheld_split_is_counted(made: Packaged) -> None:
    assert made.manifest["counts"]["kept"] == {"dev": 3, "devtest": 3, "test": 2, "total": 8}


def test_the_same_project_gives_the_same_bytes(
    tmp_path: Path, translated: Project, there: dict[str, bytes]
) -> None:
    shutil.copytree(translated.folder, tmp_path / "moved")
    moved = open_project(str(tmp_path / "moved"))
    other = package(moved, str(tmp_path / "other"), without_review=True, with_test=True)
    assert small_projects.tree(Path(other.folder)) == there


def test_a_finished_package_stays_unless_it_may_be_replaced(
    tmp_path: Path, translated: Project
) -> None:
    made = package(translated, str(tmp_path), without_review=True)
    before = small_projects.tree(Path(made.folder))
    card = Path(made.folder).parent / "README.md"
    card.unlink()  # as if a process had been killed before it wrote it
    with pytest.raises(TargetError, match="contains a finished build"):
        package(translated, str(tmp_path), without_review=True)
    assert card.is_file()
    package(translated, str(tmp_path), without_review=True, replace=True)
    assert small_projects.tree(Path(made.folder)) == before


def test_what_would_break_the_metadata_is_named() -> None:
    first, *_ = small_projects.small_sentences()
    with pytest.raises(
        InputError, match=r"source\.tsv: dev-0001: a field contains a tab or line feed"
    ):
        make_metadata([first._replace(topic="a\tb")])


def test_licences_of_documents_are_in_metadata_rows_and_card(tmp_path: Path) -> None:
    first, *others = small_projects.small_sentences()
    document = first._replace(licence="CC0 1.0", domain="news")
    sentences = [document, *(one._replace(licence="CC BY-SA 4.0") for one in others)]
    project = create_project(str(tmp_path / "p"), Rules(), sentences)
    assert list(project.sentences) == sentences
    header, line, *_ = make_metadata(sentences).splitlines()
    assert header.split("\t") == [*METADATA_COLUMNS, "licence"]
    assert line.split("\t")[-1] == "CC0 1.0"
    rows = make_rows(sentences, []).to_pylist()
    assert [row["licence"] for row in rows] == [one.licence for one in sentences]
    card = make_card(project, {"signature": "s", "counts": {"kept": {}}, "caveats": []}, [])
    assert card.startswith("---\nlicense:\n- cc-by-sa-4.0\n- cc0-1.0\n")
    assert "| CC0 1.0 | 1 |" in card
    domains = ", ".join(sorted({one.domain for one in sentences}))
    assert f"Sentences of {domains}, translated" in card


def test_the_command(tmp_path: Path, translated: Project) -> None:
    given = ("--project", translated.folder, "--output", tmp_path / "out", "--without-review")
    ran = small_projects.run("package", *given)
    assert ran.status == 0
    assert ran.out.splitlines()[1:] == [
        "dev 3, devtest 3",
        "3 languages: eng fra zho_simpl",
        "note: ara is left out: sent: 8 sentences have no translation",
        "note: deu is left out: checks failed",
        f"the build: {tmp_path}/out/flores101/flores101/1.0.0",
    ]
    manifest = json.loads((tmp_path / "out/flores101/flores101/1.0.0/manifest.json").read_text())
    assert manifest["signature"] == ran.out.splitlines()[0]
