import pytest

from corpusmill.pipelines.flores101_settings import Flores101Config
from corpusmill.pipelines.lm1b_settings import Lm1bConfig
from corpusmill.pipelines.pg19_settings import Pg19Config
from corpusmill.pipelines.run.corpora import paper_of
from corpusmill.pipelines.simplebooks_settings import SimpleBooksConfig
from corpusmill.transforms.books.simplicity import NEUTRAL, PRINTED, SQUARED
from corpusmill.transforms.files.builds.manifest import name_variant
from tests.tools.case_tables import read_cases

LM1B = Lm1bConfig(["x"]).variant()
PG19 = Pg19Config(["x"]).original()
del PG19["limit"]
BOOKS = SimpleBooksConfig(["x"]).variant()
FLORES = Flores101Config(["x"]).original()
WIKI = {"near_duplicates": 0.0, "newer_than": "", "min_words": 0}


def signature(corpus: str, variant: dict[str, object], language: str = "en") -> str:
    parts = {"lang": language, "dump": "20301101", **name_variant(variant), "v": "9.9.9"}
    return "|".join([corpus, *(f"{name}:{value}" for name, value in parts.items())])


@pytest.mark.parametrize(
    "of_paper",
    [
        signature("wiki40b", {}, "uk"),
        signature("wiki40b", WIKI, "zh-tw"),
        signature("wiki40b", {"columns": "full", "text": "markdown"}),
        signature("lm1b", LM1B),
        signature("lm1b", LM1B | {"perl": "5.14", "map_unknown": True}),
        signature("pg19", PG19),
        signature("pg19", PG19 | {"mask_words": "833e0eac"}),
        *(
            signature("simplebooks", SimpleBooksConfig(["x"], formula=formula).variant())
            for formula in (NEUTRAL, SQUARED, PRINTED)
        ),
        signature(
            "simplebooks",
            SimpleBooksConfig(["x"], target_tokens=92_000_000, number_style="comma").variant(),
        ),
        signature("flores101", FLORES | {"seed": "7", "all_wikibooks": True}),
    ],
)
def test_figures_of_the_paper_stand_beside_its_settings_and_a_newer_dump(of_paper: str) -> None:
    assert paper_of(of_paper).why_not(of_paper) == ""


BASES: dict[str, dict[str, object]] = {
    "wiki40b": {},
    "lm1b": LM1B,
    "pg19": PG19,
    "simplebooks": BOOKS,
    "flores101": FLORES,
}


@pytest.mark.parametrize(
    ("corpus", "changed", "language", "flags"), read_cases("files/paper_settings", "other_settings")
)
def test_other_settings_are_named(
    corpus: str, changed: dict[str, object], language: str, flags: str
) -> None:
    other = signature(corpus, BASES[corpus] | changed, language)
    assert paper_of(other).why_not(other) == f"not the paper's settings: {flags}"


def test_settings_of_a_project_are_named() -> None:
    other = "flores101|project:ab|langs:2|splits:dev|v:1.0.0"
    why_not = "not the paper's settings: project:ab, langs:2, splits:dev"
    assert paper_of(other).why_not(other) == why_not


@pytest.mark.parametrize(
    ("sentencepiece", "roles", "flags"),
    [
        ({"vocabulary_size": 32_000, "sample_articles": 100_000}, ["dump", "pin-splits"], ""),
        (None, ["dump"], ""),  # without a vocabulary, the text is that of the default settings
        ({"vocabulary_size": 8_000, "sample_articles": 100_000}, [], "--vocabulary-size 8000"),
        ({"vocabulary_size": 64_000}, [], "--vocabulary-size 64000"),
        ({"vocabulary_size": 32_000, "sample_articles": 9}, [], "--sample-articles 9"),
        (None, ["dump", "leave-out"], "--leave-out"),
        ({"vocabulary_size": 1}, ["leave-out"], "--vocabulary-size 1, --leave-out"),
    ],
)
def test_settings_that_only_the_manifest_has_are_named(
    sentencepiece: dict[str, int] | None, roles: list[str], flags: str
) -> None:
    manifest = {
        "signature": signature("wiki40b", {}, "uk"),
        "settings": {"sentencepiece": sentencepiece},
        "inputs": [{"role": role} for role in roles],
    }
    found = paper_of("wiki40b").why_not_beside(manifest)
    assert found == (f"not the paper's settings: {flags}" if flags else "")


def test_scores_need_the_lists_of_the_paper_and_sizes_do_not() -> None:
    paper = paper_of("wiki40b")
    of_default, of_none = (
        {"signature": signature("wiki40b", variant, "uk")} for variant in ({}, {"lists": "none"})
    )
    assert paper.why_no_score(of_default) == "not the paper's settings: --lists sentences"
    assert paper.why_no_score(of_none) == paper.why_not_beside(of_default) == ""


@pytest.mark.parametrize("kind", ["entities", "ngrams", "tokens", "subwords", "wiki40b-vocabulary"])
def test_builds_without_a_paper_have_no_reason(kind: str) -> None:
    made = f"{kind}|lang:de|of:lm1b-1.1.0|v:1.0.0"
    assert paper_of(made).why_not(made) == ""
