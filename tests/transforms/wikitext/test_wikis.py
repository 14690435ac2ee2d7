"""Codes of languages and names of databases."""

import pytest

from corpusmill.transforms.wikitext import wikis
from tests.tools.case_tables import read_cases
from tests.tools.error_of import error_of


@pytest.mark.parametrize(
    ("code", "dbname"),
    [("uk", "ukwiki"), ("no", "nowiki"), ("zh-cn", "zhwiki"), ("zh-tw", "zhwiki"),
     ("be-tarask", "be_x_oldwiki"), ("zh-yue", "zh_yuewiki"), ("simple", "simplewiki"),
     ("nds-nl", "nds_nlwiki"), ("qqq", "qqqwiki")],
)  # fmt: skip
def test_the_wiki_of_a_corpus(code: str, dbname: str) -> None:
    assert wikis.dbname_of(code) == dbname
    if dbname != "zhwiki":
        assert wikis.code_of(dbname) == code


@pytest.mark.parametrize(
    ("given", "code"),
    [("yue", "zh-yue"), ("nan", "zh-min-nan"), ("lzh", "zh-classical"), ("rup", "roa-rup"),
     ("sgs", "bat-smg"), ("vro", "fiu-vro"), ("gsw", "als"), ("nb", "no"), ("bho", "bh"),
     ("be-x-old", "be-tarask"), ("be_x_old", "be-tarask"), ("zh_yue", "zh-yue"), (" HY ", "hy"),
     ("zh-cn", "zh-cn"), ("simple", "simple"), ("en", "en"), ("qqq", "qqq")],
)  # fmt: skip
def test_aliases_have_the_code_of_the_address(given: str, code: str) -> None:
    assert wikis.canonical_code(given) == code
    assert wikis.canonical_code(code) == code


@pytest.mark.parametrize(("code", "message"), read_cases("wikitext/wikis", "what_is_no_code"))
def test_what_is_no_code(code: str, message: str) -> None:
    assert error_of(ValueError, wikis.dbname_of, code).startswith(message)


def test_the_wikipedias_of_a_folder() -> None:
    names = ["zh_yuewiki", "zhwiki", "commonswiki", "enwiki", "be_x_oldwiki", "wikidatawiki", "qqqwiki",
             "enwiktionary", "entities", "testwiki", "Xwiki"]  # fmt: skip
    assert wikis.codes_of(names) == ("en", "zh-cn", "zh-tw", "be-tarask", "qqq", "zh-yue")


def test_only_the_chinese_corpora_share_a_wiki() -> None:
    assert len({wikis.dbname_of(code) for code in wikis.LANGUAGE_CODES}) == 40


def test_every_wikipedia_is_known() -> None:
    codes = wikis.open_codes()
    assert codes[:41] == wikis.LANGUAGE_CODES
    assert len(codes) == len({wikis.dbname_of(code) for code in codes}) + 1 == 349
    assert "cho" not in codes  # closed
    assert all(wikis.canonical_code(code) == code for code in codes)
    tables = [wikis.mediawiki_table(code) for code in codes if not code.startswith("zh-")]
    assert all(len(table["months"]) == 12 for table in tables if "months" in table)
    digits = {
        table["numbers"]["digits"] for table in tables if "digits" in table.get("numbers", {})
    }
    assert all(len(of_one) == len(set(of_one)) == 10 for of_one in digits)
    assert sum("months" in table for table in tables) > 300
    assert sum("category" in table for table in tables) > 300
