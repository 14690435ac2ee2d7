from pathlib import Path

import pytest

from corpusmill.pipelines.run.corpora import layouts
from corpusmill.pipelines.subwords import find_evaluation, find_sources, parse_argument
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.models.read_sentences import EvaluationFile, SentenceSources
from tests.makers.finished_builds import make_build
from tests.makers.subword_inputs import make_corpora, write_lines
from tests.tools.case_tables import read_cases


def find(arguments: list[str]) -> SentenceSources:
    return find_sources(arguments, layouts())


def signatures(sources: SentenceSources) -> dict[str, list[str]]:
    return {
        language: [one.signature for one in builds] for language, builds in sources.builds.items()
    }


@pytest.mark.parametrize(
    ("argument", "language", "path"), read_cases("pipelines/subword_sources", "arguments")
)
def test_arguments(argument: str, language: str, path: str) -> None:
    assert parse_argument(argument) == (language, path)


def test_an_unknown_language() -> None:
    with pytest.raises(ValueError, match='no language "xx"'):
        parse_argument("xx=texts")


def test_builds_tell_their_language(tmp_path: Path) -> None:
    corpora = make_corpora(tmp_path)
    make_build(tmp_path, "zh-tw", {}, settings={"language": "zh-tw"})
    english = [
        "lm1b|lang:en|dump:2007-2011|v:1.0.0",
        "pg19|lang:en|dump:20260101|v:1.0.0",
        "simplebooks|lang:en|dump:20260101|v:1.0.0",
    ]
    sources = find([str(corpora)])
    assert signatures(sources) == {
        "en": english,
        "uk": ["wiki40b|lang:uk|dump:20260101|v:1.0.0"],
        "zh-Hant": ["wiki40b|lang:zh-tw|dump:20260101|v:1.0.0"],
    }
    assert list(sources.builds) == ["en", "uk", "zh-Hant"]
    parts = [str(corpora / name) for name in ("wiki40b", "simplebooks", "pg19", "lm1b")]
    assert find(parts) == sources == find([*reversed(parts), str(corpora)])


def test_of_an_edition_the_newest_build(tmp_path: Path) -> None:
    for date, version in (("20260101", "1.9.0"), ("20260101", "1.10.0"), ("20250101", "2.0.0")):
        make_build(tmp_path, "uk", {}, date=date, version=version)
    make_build(tmp_path, "uk-all", {}, date="latest", settings={"language": "uk"})
    assert signatures(find([str(tmp_path)])) == {
        "uk": [
            "wiki40b|lang:uk|dump:20260101|v:1.10.0",
            "wiki40b|lang:uk-all|dump:latest|v:1.0.0",
        ]
    }


def test_a_language_that_is_named_takes_the_place(tmp_path: Path) -> None:
    corpora = make_corpora(tmp_path)
    given = [f"pl={corpora}/wiki40b", str(corpora / "wiki40b"), f"pol={corpora}/wiki40b/uk"]
    for order in (given, given[::-1]):
        assert list(signatures(find(order))) == ["pl"]
    with pytest.raises(ValueError, match="is given with two languages, cs and pl"):
        find([*given, f"cs={corpora}/wiki40b"])


def test_files_of_lines(tmp_path: Path) -> None:
    paths = [str(write_lines(tmp_path / name, ["a"])) for name in ("c.txt", "a.gz", "b.txt")]
    sources = find([f"ja={tmp_path}/*.txt", f"jpn={paths[0]}", f"uk={paths[1]}"])
    assert sources == SentenceSources({}, {"ja": sorted(paths[::2]), "uk": [paths[1]]}, layouts())
    with pytest.raises(ValueError, match=r"c\.txt is given with two languages, ja and uk"):
        find([f"ja={paths[0]}", f"uk={tmp_path}/*.txt"])
    with pytest.raises(ValueError, match=r"c\.txt: the language is missing; .* as in uk="):
        find([paths[0]])
    with pytest.raises(InputError, match="no such file"):
        find([f"ja={tmp_path}/none-*"])
    (tmp_path / "wide.txt").write_text("a", "utf-16")
    with pytest.raises(InputError, match="the file is UTF-16, where UTF-8 is expected"):
        find([f"ja={tmp_path}/wide.txt"])


def test_folders_without_text(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="no finished build in this folder or below"):
        find([str(tmp_path / "empty")])
    make_build(tmp_path / "other", "all", {}, corpus="entities")
    with pytest.raises(InputError, match="no finished build of wiki40b, lm1b, pg19, simplebooks"):
        find([f"uk={tmp_path / 'other'}"])


def test_data_sets_like_flores(tmp_path: Path) -> None:
    for name in ("dev/ukr.dev", "devtest/ukr.devtest", "devtest/zho_Hant.devtest", "test/x.test"):
        write_lines(tmp_path / "flores" / name, ["a"])
    write_lines(tmp_path / "bad" / "dev" / "xx.dev", ["a"])
    root = tmp_path / "flores"
    assert find_evaluation([f"{root}/", str(root)]) == (
        EvaluationFile("uk", f"{root}/dev/ukr.dev"),
        EvaluationFile("uk", f"{root}/devtest/ukr.devtest"),
        EvaluationFile("zh-Hant", f"{root}/devtest/zho_Hant.devtest"),
    )
    assert find_evaluation([]) == ()
    with pytest.raises(InputError, match=r"no files like .*dev/\*\.dev or"):
        find_evaluation([str(tmp_path)])
    with pytest.raises(InputError, match=r'xx\.dev: no language "xx"'):
        find_evaluation([str(tmp_path / "bad")])
