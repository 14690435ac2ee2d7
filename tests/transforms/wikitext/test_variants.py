"""Variants of Chinese: marks, rules of a page, titles, and bounds on bad input."""

import contextlib
import pickle
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from zhconv_rs import make_converter

from corpusmill.transforms.wikitext.clean import UncleanableError
from corpusmill.transforms.wikitext.variants.chinese import ChinesePage
from corpusmill.transforms.wikitext.variants.page_variants import Mark, read_mark
from tests.tools.case_tables import read_cases, read_tables
from tests.tools.growth import call_linear
from tests.transforms.wikitext.test_clean import cleaner_for, shown

CN = ("zh-cn", "zh-hans", "zh-sg", "zh-my", "zh")
TW = ("zh-tw", "zh-hant", "zh-hk", "zh-mo", "zh")
# Characters that words of the tables are made of, so that matches overlap.
HAN = st.text("重复複制製作品头頭发髮后後里裡面软軟件以皇干", min_size=1, max_size=4)


@pytest.mark.parametrize(("inner", "variants", "mark"), read_cases("wikitext/variants", "marks"))
def test_marks(inner: str, variants: str, mark: list[Any]) -> None:
    assert read_mark(inner, {"CN": CN, "TW": TW}[variants]) == Mark(*mark)


@pytest.mark.parametrize(("wikitext", "cn", "tw"), read_cases("wikitext/variants", "titles"))
def test_titles(wikitext: str, cn: str, tw: str) -> None:
    titles = [cleaner_for(code).clean(wikitext, "後期发展").title for code in ("zh-cn", "zh-tw")]
    assert titles == [cn, tw]


def test_titles_of_other_languages_stay() -> None:
    assert cleaner_for("ja").clean("文。", "後期发展").title == "後期发展"


def test_a_pickled_cleaner_converts_alike() -> None:
    cleaner = cleaner_for("zh-tw")
    text = "头发，{{lang|ja|头发}}。"
    assert shown(cleaner.clean(text, "t")) == "頭髮，头发。"
    assert pickle.loads(pickle.dumps(cleaner)).clean(text, "t") == cleaner.clean(text, "t")


def test_only_a_chinese_corpus_loads_the_conversion_tables() -> None:
    code = (
        "import sys\n"
        "from tests.transforms.wikitext.test_clean import cleaner_for\n"
        "cleaner_for('ja').clean('文。', 't')\n"
        "print('zhconv_rs' in sys.modules)\n"
        "cleaner_for('zh-cn').clean('文。', 't')\n"
        "print('zhconv_rs' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "True"]


def test_words_that_could_be_read_as_rules_themselves() -> None:
    text = (
        "-{H|a;b=>zh-tw:x;甲&=>zh-tw:y;{乙=>zh-tw:z;丙=>zh-tw:<b>;丁=>zh-tw:'}-x:&amp;}-丁和甲&。"
    )
    assert shown(cleaner_for("zh-tw").clean(text, "t")) == "x:&}-'和甲&。"
    text = "-{H|丁=>zh-tw:a:b=c;戊-己=>zh-tw:-;}-丁戊-己庚=>辛;。"
    assert shown(cleaner_for("zh-tw").clean(text, "t")) == "a:b=c-庚=>辛;。"


def test_pages_have_so_many_rules_at_most() -> None:
    words = [f"詞{i:04}語" for i in range(1000)]
    rules = "".join(f"-{{H|{word}=>zh-tw:乙}}-" for word in words)
    assert shown(cleaner_for("zh-tw").clean(rules + words[199], "t")) == "乙"
    assert shown(cleaner_for("zh-tw").clean(rules + words[200], "t")) == words[200]
    assert shown(cleaner_for("zh-tw").clean("-{H|" + "甲" * 101 + "=>zh-tw:乙}-" + "甲" * 101, "t"))


@given(
    st.dictionaries(HAN, HAN, min_size=1, max_size=5),
    st.lists(HAN | st.sampled_from("。\nab"), max_size=30).map("".join),
)
def test_the_rules_of_a_page_and_the_tables_are_searched_as_one(
    rules: dict[str, str], text: str
) -> None:
    mark = "-{H|" + "".join(f"{word}=>zh-tw:{to};" for word, to in rules.items()) + "}-"
    page = ChinesePage(f"{mark}{text}", TW)
    assert page.convert(page.text) == make_converter("zh-tw", list(rules.items()))(text)


RULE = "-{H|zh-cn:甲;zh-tw:乙}-"
RULES = "".join(f"-{{H|zh-cn:詞{i};zh-tw:語{i}}}-" for i in range(300))
BAD = read_tables("wikitext/variants")["bad_input"]
HEADS = {
    "": "",
    "rule": RULE,
    "rules": RULES,
    "rules of one beginning": "".join(f"-{{H|{'甲' * i}乙=>zh-tw:丙}}-" for i in range(1, 100)),
    "mark": "-{zh-cn:",
    "many semicolons": "-{A|" + "a=>zh-cn:b; " * 5000 + "}-",
}


@pytest.mark.parametrize("head", HEADS)
@pytest.mark.parametrize("name", BAD)
def test_time_grows_with_the_length_of_bad_input(name: str, head: str) -> None:
    cleaner = cleaner_for("zh-tw")

    def clean(text: str) -> None:
        with contextlib.suppress(UncleanableError):
            cleaner.clean(text, "t")

    unit = BAD[name]
    call_linear(clean, lambda size: HEADS[head] + unit * (size // len(unit)), 100_000)


def test_rules_that_change_with_every_paragraph_take_linear_time() -> None:
    cleaner = cleaner_for("zh-tw")
    paragraphs = call_linear(
        lambda text: cleaner.clean(text, "t").sections[0].paragraphs,
        lambda size: "".join(f"-{{H|zh-cn:词{i};zh-tw:語{i}}}-词{i}后发\n\n" for i in range(size)),
        3000,
    )
    assert paragraphs[100] == "語100後發"
    assert len(paragraphs) == 3000
