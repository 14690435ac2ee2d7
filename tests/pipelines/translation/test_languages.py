import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.pipelines.translation.target_languages import (
    FLORES101_CODES,
    find_language,
    find_variety,
    flores_plus_code,
)
from tests.tools.case_tables import read_cases


def test_there_are_101_languages_and_english() -> None:
    assert len(FLORES101_CODES) == 102
    assert len(set(FLORES101_CODES)) == 102
    assert list(FLORES101_CODES) == sorted(FLORES101_CODES)
    assert {"eng", "zho_simpl", "zho_trad", "ckb", "kea", "umb"} <= set(FLORES101_CODES)


def test_every_one_has_a_tag_of_its_own() -> None:
    tags = {find_language(code).tag for code in FLORES101_CODES}
    assert len(tags) == 102
    assert not any(tag.startswith("und") for tag in tags)


# As Table 1 has them: (how many, script).
def test_scripts_are_those_of_the_paper() -> None:
    by_script: dict[str, list[str]] = {}
    for code in FLORES101_CODES:
        by_script.setdefault(" ".join(find_language(code).scripts), []).append(code)
    assert by_script["Cyrl"] == "bel bul kaz kir mkd mon rus srp tgk ukr".split()
    assert by_script["Arab"] == "ara ckb fas pus snd urd".split()
    assert by_script["Deva"] == "hin mar npi".split()
    assert by_script["Beng"] == "asm ben".split()
    alone = {script: codes[0] for script, codes in by_script.items() if len(codes) == 1}
    assert alone == dict(read_cases("translation/languages", "alone"))
    assert len(by_script["Latn"]) == 102 - 10 - 6 - 3 - 2 - 20


def test_those_from_right_to_left() -> None:
    found = [code for code in FLORES101_CODES if find_language(code).is_right_to_left]
    assert found == "ara ckb fas heb pus snd urd".split()


@pytest.mark.parametrize(
    ("code", "name", "tag", "scripts"),
    read_cases("translation/languages", "languages"),
)
def test_languages(code: str, name: str, tag: str, scripts: list[str]) -> None:
    language = find_language(code)
    assert language[:4] == (code, name, tag, tuple(scripts))


@pytest.mark.parametrize(
    ("code", "plus", "name", "tag"), read_cases("translation/languages", "varieties")
)
def test_varieties_have_the_name_and_tag_of_their_codes(
    code: str, plus: str, name: str, tag: str
) -> None:
    assert flores_plus_code(code, plus) == plus
    assert find_variety(code, plus)[1:3] == (name, tag)


@pytest.mark.parametrize(
    ("code", "near"),
    read_cases("translation/languages", "near"),
)
def test_what_is_no_language_is_named_with_those_near(code: str, near: str) -> None:
    with pytest.raises(ValueError, match=r"^no language ") as raised:
        find_language(code)
    assert f'"{code}"' in str(raised.value)
    assert near in str(raised.value)


@given(st.text(max_size=12))
def test_a_code_is_a_language_or_an_error(code: str) -> None:
    try:
        language = find_language(code)
    except ValueError:
        return
    assert language.code == code
    assert language.scripts
    assert "/" not in code
    assert not code.startswith(".")
