from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpusmill.transforms.translation.sentence_rules import (
    MAX_WORDS,
    MIN_WORDS,
    reason_to_reject_sentence,
)
from tests.tools.real_data import DATA, needs_real_data


@pytest.mark.parametrize(
    "text",
    [
        "The bridge was opened to the public in the spring of 1932.",
        "Is there really no other way to cross the river?",
        '"We had never seen so much snow," said the mayor of the town.',
        'The harbour is known to everyone there as "the pond."',
        "It was called “the best of all the small museums” by a critic.",
        "108 plates were set out on the tables of the hall.",
        "$5 million was paid for the painting by an unknown buyer.",
        "iPhone owners were among the first who could use the service.",
        "He said that they had left [the village] before it was dark.",
        "(They had been there before, and knew the way to the lake.)",
        "Flights go from A to B.".replace("Flights", "All the direct flights of the company"),
        "The prize went to Ann Lowe, Bo Berg, Cy Dorn and Di Eng of the same team.",
        "The volcano (in Icelandic Þríhnúkagígur) can be entered by visitors in summer.",
        "The temple is called 寺 by those who live in the valley.",
        "A table and a map of the island hang on the wall.",
        "It took them three hours … and then they had to go back.",
        "The train left at 8:30 p.m. local time and came in late.",
        "All of the people of the village have a memory like an elephant's.",
        "In the U.S. the law was changed, e.g. by the states of the south.",
    ],
)
def test_good_sentences(text: str) -> None:
    assert reason_to_reject_sentence(text) is None


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Swimming in the lake is safe.", "too-short"),
        ("It is " + "very " * MAX_WORDS + "cold.", "too-long"),
        ("The word is written " + "a" * 400 + " in the book of records.", "too-long"),
        ("The history of the town and its old harbour", "no-end"),
        ("The town has three things that everybody should see:", "no-end"),
        ("They had come to the end of the road;", "no-end"),
        ("which had been built by the monks in the valley.", "lower-case"),
        ("“which had been built by the monks in the valley.”", "lower-case"),
        ("état is a word that the monks in the valley used.", "lower-case"),
        (", and the monks had left the valley for the winter.", "punctuation"),
        (". The monks had left the valley for the winter.", "punctuation"),
        ("[...] The monks had left the valley for the winter.", "punctuation"),
        ("", "punctuation"),
        ("* The monks had left the valley for the winter.", "list-item"),
        ("– The monks had left the valley for the winter.", "list-item"),
        ("2. Put the eggs into the bowl and stir them well.", "list-item"),
        ("a) Put the eggs into the bowl and stir them well.", "list-item"),
        ("(iv) Put the eggs into the bowl and stir them well.", "list-item"),
        ("Step 3 is to put the eggs into the bowl.", "list-item"),
        ("The house was bought by a man called Dr.", "abbreviation"),
        ("In the morning they went by boat to St.", "abbreviation"),
        ("The speech of that day was held by John F.", "abbreviation"),
        ("He was given the medal by the then-U.", "abbreviation"),
        ("The minister of the island died today at 10:00 a.m.", "abbreviation"),
        ("It was shown by the group of Ames et al.", "abbreviation"),
        ('He said "we had never seen so much snow.', "unbalanced"),
        ("He said that “we had never seen so much snow.", "unbalanced"),
        ("He wore a ring (just not one that looks too expensive.", "unbalanced"),
        ("It was the end of the day) and they went home.", "unbalanced"),
        ("It was )the end of the( day and they went home.", "unbalanced"),
        ("The town of Ames () is at the end of the road.", "gap"),
        ("The town of Ames (; in German) is at the end of the road.", "gap"),
        ("The town has a population of , and it is growing.", "gap"),
        ("The town is at the end of the road .", "gap"),
        ("The town has churches,, and it has a harbour.", "gap"),
        ("The town has churches,and it has a large harbour.", "gap"),
        ("The town of [[Ames]] is at the end of the road.", "markup"),
        ("The town of {{w|Ames}} is at the end of the road.", "markup"),
        ("The town of ''Ames'' is at the end of the road.", "markup"),
        ("The town of <b>Ames</b> is at the end of the road.", "markup"),
        ("The town of Ames&nbsp;West is at the end of the road.", "markup"),
        ("The town of Ames is described on www.ames.example in detail.", "markup"),
        ("The town of Ames is described on https://ames.example in detail.", "markup"),
        ("The town of Ames can be asked at town@ames.example for rooms.", "markup"),
        ("The town of Ames[3] is at the end of the road.", "markup"),
        ("The town of Ames is at the end of the road.[citation needed] .", "markup"),
        ("The town of\u200b Ames is at the end of the road.", "control-character"),
        ("The town of\ue000 Ames is at the end of the road.", "control-character"),
        ("The town of \ufffdmes is at the end of the road.", "control-character"),
        ("The town of\tAmes is at the end of the road.", "control-character"),
        ("It is 3 + 4 * 5 - 6 = 17, or 23 - 6 = 17.", "symbols"),
        ("THE TOWN OF AMES IS AT THE END OF THE ROAD.", "capitals"),
        ("The words are 你好吗 and 我很好谢谢你 and 再见 in that order.", "foreign-script"),
        ("Город стоит на самом краю очень старой дороги.", "foreign-script"),
        ("Nuestras obras siempre estarán dirigidas hacia ese fin.", "not-english"),
        ("Le bilan est lourd, plusieurs personnes ont perdu la vie.", "not-english"),
        ("The old king (pictured) was the last of his line.", "dangling"),
        ("The old king (pictured, left) was the last of his line.", "dangling"),
        ("The old king (second from right) was the last of his line.", "dangling"),
        ("The way to the lake is quite easy (see map).", "dangling"),
        ("As you can see from the map above, it is far.", "dangling"),
        ("The hotels listed below are open all the year.", "dangling"),
        ("In the following table the towns are listed by size.", "dangling"),
        ("In this article we shall look at the old towns.", "dangling"),
        ("Click here to read all of it in the original.", "dangling"),
        ("More of them are listed on the site behind these links.", "dangling"),
        ("Each of the names in bold type below is that of a ship.", "dangling"),
        ("The heat capacity of the dry brick is told as c = 0.20 here.", "formula"),
        ("(She had two sons.) In January he left the house for good.", "punctuation"),
    ],
)
def test_broken_sentences(text: str, slug: str) -> None:
    assert reason_to_reject_sentence(text) == slug


@pytest.mark.parametrize(
    ("words", "slug"),
    [
        (MIN_WORDS - 1, "too-short"),
        (MIN_WORDS, None),
        (MAX_WORDS, None),
        (MAX_WORDS + 1, "too-long"),
    ],
)
def test_the_bounds_themselves_are_fit(words: int, slug: str | None) -> None:
    text = "The " + " ".join(["or"] * (words - 2)) + " hill."
    assert reason_to_reject_sentence(text) == slug


@given(st.text())
def test_no_text_is_too_odd(text: str) -> None:
    reason = reason_to_reject_sentence(text)
    assert reason is None or reason == reason.strip().lower()


@needs_real_data
def test_nearly_all_released_sentences_are_fit() -> None:
    path = DATA / "flores" / "flores101_dataset" / "devtest" / "eng.devtest"
    reasons = Counter(
        reason_to_reject_sentence(line.strip()) for line in path.read_text("utf-8").splitlines()
    )
    assert reasons.total() == 1012
    assert reasons[None] == 993
    assert dict(reasons) == {
        None: 993,
        "unbalanced": 5,  # halves of quotations, a bracket that is not closed
        "no-end": 5,  # three without any end, one that ends in "archipelago", one in "I"
        "dangling": 3,  # "(see example)", "the map above", "discussed here"
        "lower-case": 2,  # "he cave itself", "towards the end"
        "not-english": 2,  # lists of sports and of nominations
        "punctuation": 1,  # ". Scientists say"
        "control-character": 1,  # two of U+200B
    }
