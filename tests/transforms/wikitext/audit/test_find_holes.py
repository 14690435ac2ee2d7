"""Holes in texts that are made for it, beside the wikitext that they come from."""

import pytest

from corpusmill.transforms.wikitext.audit.audit_report import AuditTask, audit_page
from corpusmill.transforms.wikitext.audit.find_holes import compare
from corpusmill.transforms.wikitext.audit.holes import CLASSES, counts_as_hole
from corpusmill.transforms.wikitext.audit.source_view import view_source
from tests.test_architecture import ROOT, imports

# wikitext, paragraphs of the text, (class, template) of each hole
HOLES = [
    # A template in a sentence.
    (
        "The lake lies at {{coord|28|N|55|W}} and is deep and cold all year.",
        ["The lake lies at and is deep and cold all year."],
        [("template", "Coord")],
    ),
    (
        "It cost {{Price|3}}, which was a lot of money for a small town.",
        ["It cost, which was a lot of money for a small town."],
        [("template", "Price")],
    ),
    (
        "湖の面積は{{面積/湖|北の湖}}平方キロメートルで、人口は{{人口|2}}人である。",
        ["湖の面積は平方キロメートルで、人口は人である。"],
        [("template", "面積/"), ("template", "人口")],
    ),
    (
        "या तलावाची खोली {{मोजमाप|30|मीटर}} असून तो शहराच्या उत्तरेला जंगलात आहे.",
        ["या तलावाची खोली असून तो शहराच्या उत्तरेला जंगलात आहे."],
        [("template", "मोजमाप")],
    ),
    (
        "Озеро названо на честь {{особа|Іван}} (нар. 1901), який жив тут багато років.",
        ["Озеро названо на честь (нар. 1901), який жив тут багато років."],
        [("template", "Особа")],
    ),
    (
        "The lake ({{IPA|x}}) is deep and cold in all months of the year.",
        ["The lake is deep and cold in all months of the year."],
        [("dropped-aside", "IPA")],
    ),
    # What a template leaves around it.
    (
        "The lake ({{native|x}}) is deep and cold in all months of the year.",
        ["The lake () is deep and cold in all months of the year."],
        [("empty-brackets", "Native")],
    ),
    (
        "この湖は「{{lang|xx|}}」と呼ばれ、町の北の森の中にある深い湖である。",
        ["この湖は「」と呼ばれ、町の北の森の中にある深い湖である。"],
        [("empty-brackets", "Lang")],
    ),
    (
        "The lake ({{native|x}}, 1901) is deep and cold in all months of the year.",
        ["The lake (, 1901) is deep and cold in all months of the year."],
        [("empty-brackets", "Native")],
    ),
    (
        "The lake is deep and cold in all months of the year <ref>A book</ref>.",
        ["The lake is deep and cold in all months of the year ."],
        [("punctuation", "<ref>")],
    ),
    (
        "{{Name|Lake}} is a deep lake, cold in all months of the year.",
        ["is a deep lake, cold in all months of the year."],
        [("no-beginning", "Name")],
    ),
    (
        "{{読み仮名|北の湖}}は、町の北の森の中にある深い湖である。",
        ["は、町の北の森の中にある深い湖である。"],
        [("no-beginning", "読み仮名")],
    ),
    # Lists.
    (
        "There are three kinds of fish in the lake:\n* a pike\n* a perch\nThe lake is deep.",
        ["There are three kinds of fish in the lake:", "The lake is deep."],
        [("no-end", "")],
    ),
    (
        "These are the fish of the deep lake:\n{|\n| pike\n|}\nThe lake is cold.",
        ["These are the fish of the deep lake:", "The lake is cold."],
        [("before-block", "")],
    ),
    (
        "The lake is drawn in this picture:\n:[[File:Lake.png|9px]]\nIt is cold.",
        ["The lake is drawn in this picture:", "It is cold."],
        [("before-block", "")],
    ),
    (
        "The program prints all fish of the lake:\n{{begin}}\n print(fish)\nIt is short.",
        ["The program prints all fish of the lake:", "It is short."],
        [("before-block", "")],
    ),
    (
        "These are the fish of the deep lake:\n* pike\n{|\n| perch\n|}",
        ["These are the fish of the deep lake:"],
        [("no-end", "")],
    ),
    # Words.
    (
        "The lake is deep and cold, and many kinds of fish live in it all year.",
        ["The lake is deep and cold, and many kinds live in it all year."],
        [("dropped-words", "")],
    ),
    # Whole sentences and asides around a value.
    (
        "The lake is deep and cold. It has {{area|lake}} square miles. Many fish live in it.",
        ["The lake is deep and cold. Many fish live in it."],
        [("unknown-value", "Area")],
    ),
    (
        "この湖は町の北の森の中にある。面積は{{面積/湖|北の湖}}平方キロメートルである。湖の水は冷たく、魚が多い。",
        ["この湖は町の北の森の中にある。湖の水は冷たく、魚が多い。"],
        [("unknown-value", "面積/")],
    ),
    (
        "They came to the deep lake in May 1901 (${{price|1901}} years ago), and built a town.",
        ["They came to the deep lake in May 1901, and built a town."],
        [("unknown-value", "Price")],
    ),
    (
        "The lake is deep and cold. It has {{area|lake}} square miles. Many fish live in it.",
        ["The lake is deep and cold. square miles. Many fish live in it."],
        [("dropped-words", "Area")],
    ),
    (
        "The lake is deep and cold.\n\nMany kinds of fish live in it, and all are good to eat.",
        ["The lake is deep and cold."],
        [("dropped-paragraph", "")],
    ),
    (
        "The poet wrote of the lake.\n{{quote box|1=It is a deep lake, and in it the moon has"
        " drowned.|2=A poet}}",
        ["The poet wrote of the lake."],
        [("dropped-quotation", "Quote box")],
    ),
    (
        "[[File:Lake.jpg|thumb|A boat on the lake in the year of the great frost]]\nThe lake is deep.",
        ["A boat on the lake in the year of the great frost The lake is deep."],
        [("added-words", "")],
    ),
    (
        "The lake is deep and cold in all months of the year.",
        ["The lake is deep and [[cold in all months of the year."],
        [("added-words", "")],
    ),
]

RIGHT = [
    # Shown.
    (
        "The lake is {{convert|3|km}} long and lies at {{coord|28|N}}, near the town.",
        ["The lake is 3 kilometres long and lies at 28°N, near the town."],
    ),
    ("'''Lake''' (Latin: {{lang|la|lacus}}) is a word.", ["Lake (Latin: lacus) is a word."]),
    (
        "It was {{'}}s and 10{{nbsp}}km long, as all knew.",
        ["It was 's and 10 km long, as all knew."],
    ),
    # What leaves nothing on purpose.
    (
        "The lake is deep.<ref>A</ref>{{sfn|B|1901|p=1}} It is cold{{doubt|date=May 2001}} all year.",
        ["The lake is deep. It is cold all year."],
    ),
    ("The lake is deep {{doubt|date=May 2001}} and cold.", ["The lake is deep and cold."]),
    ("{{Infobox lake|name=Lake}}\n'''Lake''' is a lake.", ["Lake is a lake."]),
    ("{{Main|Lake}}The lake is deep and cold.", ["The lake is deep and cold."]),
    # What a sentence announces comes from a template or a formula.
    (
        "A poet wrote of the lake:\n{{quote|In it the moon has drowned.}}\nThe lake is deep.",
        ["A poet wrote of the lake:", "In it the moon has drowned.", "The lake is deep."],
    ),
    (
        "There are two kinds of fish in the lake:\n* {{lang|la|Esox}}, a pike with many teeth",
        ["There are two kinds of fish in the lake:", "Esox, a pike with many teeth"],
    ),
    (
        "A poet wrote of the lake: {{quote|In it the moon has ''drowned''.<ref>A</ref>}}",
        ["A poet wrote of the lake:", "In it the moon has drowned."],
    ),
    (
        "Its water takes part in this:\n:{{chem|H|2}} + {{chem|O|2}}\nThe lake is deep.",
        ["Its water takes part in this:", "H2 + O2", "The lake is deep."],
    ),
    (
        "Two kinds of fish live in it:\n[[Hình:Pike.jpg|A pike of the lake]]\n* A big pike",
        ["Two kinds of fish live in it:", "A big pike"],
    ),
    (
        "They loved {{quote|the lake, as it was deep and cold.}} A poet states:\n{{quote|It is.}}",
        ["They loved", "the lake, as it was deep and cold.", "A poet states:", "It is."],
    ),
    # Originals beside translations, notes, and boxes of images.
    ("It is deep.\n{{x|la|Lacus est altus, et frigidus per omnes menses anni.}}", ["It is deep."]),
    ("It is a deep lake ({{lang-en|}} a pond).", ["It is a deep lake (a pond)."]),
    (
        "[[File:A.jpg|A boat\n\nIt is a deep lake, and cold.",
        ["A boat", "It is a deep lake, and cold."],
    ),
    ("It is {{box|a=[[File:Lake.jpg|9px]]}} deep and cold.", ["It is deep and cold."]),
    (
        "湖は深い{{Sfn|B|1901|p=1}}。町の北にある{{要出典|date=2001年}}が、寒い。",
        ["湖は深い。町の北にあるが、寒い。"],
    ),
    # The author's own.
    (
        "A call of f() takes an array [] , as is known.",
        ["A call of f() takes an array [] , as is known."],
    ),
    ("Its length is <math>a/b</math> .", ["Its length is a : b ."]),
    ("iPods are players of music that many had.", ["iPods are players of music that many had."]),
    (
        "There are two kinds:\n* a pike\n* a perch",
        ["There are two kinds:", "a pike", "a perch"],
    ),
    ("The tag {{code|<p>}} begins a paragraph.", ["The tag <p> begins a paragraph."]),
    (
        "They said\n{{quote|The [[Lake (north)|lake]] is <ins>deep</ins>, and ''cold'' all year.}}"
        "\nin 1901, and left it.",
        ["They said", "The lake is deep, and cold all year.", "in 1901, and left it."],
    ),
    (
        "They said\n{{quote|The lake is deep, and cold.}} and left it in 1901.",
        ["They said", "The lake is deep, and cold.", "and left it in 1901."],
    ),
    (
        "They are equal, where\n\n<math>a</math>, where <math>b</math>\n\nThe lake is deep.\n\nwhere",
        ["They are equal, where", "where", "The lake is deep.", "where"],
    ),
    # Lists and notes that are written by hand.
    (
        "The lake is deep.\n\n1. A. Author. A book about the lake, with many a picture. A town, 1901.",
        ["The lake is deep."],
    ),
    # Paragraphs that are put together, and lines that are parted.
    ("The lake is deep\nand cold in all months.", ["The lake is deep and cold in all months."]),
    (
        "The lake is deep<br>and cold in all months.",
        ["The lake is deep", "and cold in all months."],
    ),
]


@pytest.mark.parametrize(("wikitext", "paragraphs", "expected"), HOLES)
def test_a_hole_is_found_in_its_class(
    wikitext: str, paragraphs: list[str], expected: list[tuple[str, str]]
) -> None:
    found = compare(view_source(wikitext, {"file"}), paragraphs)
    holes = [hole for hole in found.holes if counts_as_hole(hole, found.uses)]
    assert [(hole.kind, hole.template) for hole in holes] == expected


def test_every_class_has_a_case() -> None:
    assert {kind for _, _, expected in HOLES for kind, _ in expected} == CLASSES.keys()


@pytest.mark.parametrize(("wikitext", "paragraphs"), RIGHT)
def test_a_text_that_is_right_has_no_hole(wikitext: str, paragraphs: list[str]) -> None:
    found = compare(view_source(wikitext, {"file"}), paragraphs)
    assert [hole for hole in found.holes if counts_as_hole(hole, found.uses)] == []


def test_uses_of_templates_are_counted_by_what_became_of_them() -> None:
    wikitext = "The lake is {{a|1}} long and {{b|2}} deep.{{c}} It is cold{{c}} all year."
    found = compare(
        view_source(wikitext, {"file"}), ["The lake is 1 km long and deep. It is cold all year."]
    )
    assert {name: tuple(uses) for name, uses in found.uses.items()} == {
        "A": (1, 0, 0),
        "B": (0, 1, 0),
        "C": (0, 0, 2),
    }


def test_a_page_that_is_no_article_has_lost_its_prose() -> None:
    found = audit_page(
        AuditTask("The lake is deep, and it is as cold as ice all year.", "", frozenset())
    )
    assert [hole.kind for hole in found.holes] == ["dropped-paragraph"]
    assert (found.paragraphs, found.source_words, found.found_words) == (0, 13, 0)


def test_the_audit_does_not_know_the_cleaner() -> None:
    folder = ROOT / "transforms/wikitext/audit"
    allowed = (
        "corpusmill.transforms.wikitext.audit",
        "corpusmill.transforms.wikitext.article_markers",
        "corpusmill.transforms.files.markup",
    )
    for path in folder.glob("*.py"):
        for name in imports(str(path.relative_to(ROOT))):
            assert not name.startswith("corpusmill") or name.startswith(allowed)
