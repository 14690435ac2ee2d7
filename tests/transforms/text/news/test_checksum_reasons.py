import pytest

from transforms.text.news.checksum_reasons import Facts, Finding, Status, find_reasons

FACTS = Facts({}, 145_576, 0, 0, {}, is_published=False)
EQUAL, DIFFERENT, DAMAGED, MISSING = (
    Status.EQUAL,
    Status.DIFFERENT,
    Status.DAMAGED,
    Status.MISSING,
)

SORTED = "news.20XX.en.shuffled.sorted"
TOKENIZED = f"{SORTED}.tokenized"
ONE, TWO = "news.en-00001-of-00100", "news.en-00002-of-00100"
HELDOUT = "news.en.heldout-00000-of-00050"

WHOLE = "Files that are called different are whole, and belong to another corpus."
SENTENCES = "The build has 145,576 sentences."


def reasons(facts: Facts = FACTS, /, **statuses: Status) -> list[str]:
    names = {"sorted": SORTED, "tokenized": TOKENIZED, "one": ONE, "two": TWO, "heldout": HELDOUT}
    return list(
        find_reasons([Finding(status, names[name], "") for name, status in statuses.items()], facts)
    )


@pytest.mark.parametrize(
    "statuses",
    [
        {"one": EQUAL, "two": EQUAL},
        {"one": EQUAL, "sorted": Status.NOT_COMPARED, "two": Status.NOT_IN_LIST},
    ],
)
def test_where_nothing_is_wrong_nothing_is_said(statuses: dict[str, Status]) -> None:
    facts = FACTS._replace(settings={"shards": 10}, rejected=3)
    assert reasons(facts, **statuses) == []


@pytest.mark.parametrize(
    ("statuses", "beginning"),
    [
        (
            {"sorted": DIFFERENT, "tokenized": DIFFERENT, "one": DIFFERENT},
            "The sorted lines differ",
        ),
        (
            {"sorted": EQUAL, "tokenized": DIFFERENT, "one": DIFFERENT},
            "The sorted lines fit, the tokenised lines do not: normalisation or tokenisation differ",
        ),
        (
            {"tokenized": DIFFERENT, "one": EQUAL, "two": DIFFERENT},
            "The tokenised lines do not: normalisation or tokenisation differ",
        ),
        (
            {"sorted": EQUAL, "tokenized": EQUAL, "one": EQUAL, "heldout": DIFFERENT},
            "The tokenised lines fit, shards do not: the shuffle differs.",
        ),
        ({"one": EQUAL, "two": DIFFERENT}, "Some shards fit, so lines have their places"),
        ({"one": DIFFERENT, "heldout": EQUAL}, "Some shards fit, so lines have their places"),
        ({"one": DIFFERENT, "two": DIFFERENT}, "No shard fits: there are other lines"),
    ],
)
def test_the_first_step_that_differs(statuses: dict[str, Status], beginning: str) -> None:
    whole, step, sentences = reasons(**statuses)
    assert (whole, sentences) == (WHOLE, SENTENCES)
    assert step.startswith(beginning)


def test_shards_without_lines_say_nothing() -> None:
    empty = Finding(EQUAL, TWO, "d41d8cd98f00b204e9800998ecf8427e")
    _, step, _ = find_reasons([empty, Finding(DIFFERENT, ONE, "")], FACTS)
    assert step.startswith("No shard fits")


def test_settings_that_are_not_the_original_s() -> None:
    settings = {
        "language": "en",
        "deduplicate": "tokenized",
        "near_duplicates": 0.0,
        "lower_case": True,
        "shards": 10,
        "min_count": 5,  # decides about the vocabulary alone
    }
    facts = FACTS._replace(settings=settings)
    sentence = (
        "Settings of the build that are not those of the original: deduplicate 'tokenized' (original:"
        " 'raw'), lower_case True (original: False), shards 10 (original: 100)."
    )
    assert reasons(facts, one=DIFFERENT)[0] == sentence
    assert reasons(facts, one=MISSING) == [sentence]


def test_missing_files_alone_tell_of_no_other_corpus() -> None:
    assert reasons(one=MISSING, two=EQUAL) == []


def test_damage_is_no_other_corpus() -> None:
    [sentence] = reasons(one=DAMAGED, two=EQUAL)
    assert sentence.startswith("Files are not what the build has written (SHA-256 in its manifest)")
    assert reasons(one=DAMAGED, two=DIFFERENT)[:2] == [sentence, WHOLE]


def test_what_the_build_tells_of_itself() -> None:
    code = {"corpusmill": "0.1.0", "numpy": "2.4.6", "unicode": "14.0.0"}
    facts = Facts({}, 30_607_715, 1, 2, code, is_published=True)
    assert reasons(facts, one=DIFFERENT)[2:] == [
        "The build has 30,607,715 sentences; the published corpus has 30,607,716.",
        "It has rejected 1 lines, and could not read 2 parts of its input; the scripts know neither.",
        "It was made by corpusmill 0.1.0, unicode 14.0.0.",
    ]
