import tomllib
from pathlib import Path
from typing import Any

import pytest

from corpusmill.pipelines.flores101_settings import Flores101Config
from corpusmill.pipelines.lm1b_settings import Lm1bConfig
from corpusmill.pipelines.pg19_settings import Pg19Config
from corpusmill.pipelines.run.corpora import paper_of
from corpusmill.pipelines.run.settings import settings_in
from corpusmill.pipelines.simplebooks_settings import SimpleBooksConfig
from corpusmill.pipelines.wiki40b_settings import Wiki40bConfig
from corpusmill.transforms.files.builds.manifest import name_variant
from corpusmill.transforms.files.builds.paper_figures import Beside, Paper

OF_PAPER: dict[str, dict[str, Any]] = {
    "wiki40b": {},
    "lm1b": Lm1bConfig(["x"]).variant(),
    "pg19": Pg19Config(["x"]).original() | {"limit": 0},
    "simplebooks": SimpleBooksConfig(["x"]).variant(),
    "flores101": Flores101Config(wikinews=["x"]).original(),
}
CONFIGS = dict(
    zip(
        OF_PAPER,
        (Wiki40bConfig, Lm1bConfig, Pg19Config, SimpleBooksConfig, Flores101Config),
        strict=True,
    )
)
CASES = tomllib.loads((Path(__file__).parents[3] / "cases/paper_settings.toml").read_text("utf-8"))
WHY_NOT = "not the paper's settings: {}"


def beside(
    corpus: str,
    language: str = "en",
    signed: dict[str, Any] | None = None,
    settings: dict[str, Any] | None = None,
    roles: list[str] | None = None,
    kept: dict[str, int] | None = None,
) -> Beside:
    parts = {"lang": language, "dump": "20301101"}
    parts |= name_variant(OF_PAPER[corpus] | (signed or {})) | {"v": "9.9.9"}
    made = "|".join([corpus, *(f"{name}:{value}" for name, value in parts.items())])
    inputs = [{"role": role} for role in roles or []]
    manifest = {"signature": made, "settings": settings or {}, "inputs": inputs}
    published = paper_of(corpus).published(manifest)
    return paper_of(corpus).beside({**manifest, "counts": {"kept": {**published, **(kept or {})}}})


@pytest.mark.parametrize("of_paper", CASES["both"].values(), ids=CASES["both"])
def test_sizes_and_scores_stand_beside_the_settings_of_the_paper(of_paper: dict[str, Any]) -> None:
    assert beside(**of_paper) == Beside("", "", "input of 20301101")


@pytest.mark.parametrize("flags", CASES["size"])
def test_sizes_stand_beside_other_settings_which_are_named(flags: str) -> None:
    why_not = WHY_NOT.format(flags)
    assert beside(**CASES["size"][flags]) == Beside("", why_not, f"input of 20301101, {flags}")


@pytest.mark.parametrize("flags", CASES["none"])
def test_nothing_stands_beside_another_language_a_limit_or_unknown_settings(flags: str) -> None:
    why_not = WHY_NOT.format(flags)
    found = beside(**CASES["none"][flags])
    assert found == Beside(why_not, why_not, f"input of 20301101, {flags}")


def test_all_figures_stand_beside_the_released_corpus_and_sizes_beside_a_part() -> None:
    part = "a part of the released corpus"
    whole, partial, several = (beside(**case) for case in CASES["adopted"].values())
    assert whole == Beside(is_released=True)
    assert partial == Beside("", part, part, is_released=True)
    assert several.no_size == "the paper has no sizes of mul"
    made_of_it = CASES["adopted"]["both"] | {"signed": {"without": "wmt"}}
    assert beside(**made_of_it).no_score == WHY_NOT.format("without:wmt")


@pytest.mark.parametrize("numbers", CASES["numbers"])
def test_no_score_stands_beside_other_numbers_of_documents(numbers: str) -> None:
    """All else is as in the paper, and its sizes stand beside."""
    found = beside(**CASES["numbers"][numbers])
    assert (found.no_size, found.no_score) == (
        "",
        f"not the published numbers of documents: {numbers}",
    )
    if found.is_released:
        assert found.differs == "other numbers of documents"


def test_the_years_of_the_paper_are_no_difference() -> None:
    years: Any = {"signature": "lm1b|lang:en|dump:2007-2011|v:9.9.9"}
    kept = {"kept": {"train": 30_301_028, "test": 306_688, "paper_test": 6_206}}
    assert paper_of("lm1b").beside({**years, "counts": kept}) == Beside()
    assert paper_of("lm1b").beside(years).differs == "other numbers of documents"


def test_beside_a_corpus_of_unknown_size_no_score_stands_but_beside_the_release() -> None:
    unknown: Any = {"signature": "toy|lang:en|v:1.0.0"}
    paper = Paper({"lang": ("en",)}, dates=("undated",))
    why_not = "the numbers of documents in the published corpus are not known"
    assert paper.beside(unknown) == Beside("", why_not, "other numbers of documents")
    released = {**unknown, "settings": {"source": "released"}}
    assert paper.beside(released) == Beside(is_released=True)


def test_published_translations_are_counted_in_all_languages() -> None:
    """Some languages of FLORES+ have one split only."""
    both, one = {"dev": 6, "devtest": 6}, {"dev": 6}
    manifest = {
        "signature": "flores101|lang:mul|source:released|v:1.0.0",
        "settings": {"source": "released"},
        "rows_by_language": {
            "eng_Latn_stan1293": both,
            "ukr_Cyrl_ukra1253": both,
            "chv_Cyrl_chuv1255": one,
        },
    }
    assert paper_of("flores101").published(manifest) == {"dev": 3 * 997, "devtest": 2 * 1012}
    assert not paper_of("flores101").beside(manifest).no_size


@pytest.mark.parametrize("corpus", OF_PAPER)
def test_the_table_of_a_paper_has_every_setting_of_an_edition_or_a_manifest(corpus: str) -> None:
    named = {
        field.name.replace("_", "-")
        for field, setting in settings_in(CONFIGS[corpus])
        if setting.part_of
    }
    assert named <= paper_of(corpus).wanted.keys()


@pytest.mark.parametrize("kind", ["entities", "ngrams", "tokens", "subwords"])
def test_builds_without_a_paper_have_no_reason(kind: str) -> None:
    made = f"{kind}|lang:de|of:lm1b-1.1.0|v:1.0.0"
    assert paper_of(made).beside({"signature": made}) == Beside()
