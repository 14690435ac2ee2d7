"""The translations in force depend only on the answers."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpusmill.pipelines.translation.journal import Entry
from corpusmill.pipelines.translation.language_state import (
    TRANSLATIONS,
    LanguageState,
    write_translations,
)
from corpusmill.transforms.files.read_files import InputError
from corpusmill.transforms.files.records import Translation
from tests.pipelines.translation.small_projects import counts_of
from tests.tools.case_tables import read_cases

IDS = ("dev-0001", "dev-0002", "dev-0003")
TEXT = st.sampled_from(["Il pleut.", "Il\tpleut.", "雨だ。", "\\n", " x "])
IMPORTS = st.lists(
    st.tuples(st.sampled_from([1, 2, 4]), st.dictionaries(st.sampled_from(IDS), TEXT)), max_size=6
)


def entry(folder: Path, number: int, kind: str, **facts: object) -> Entry:
    return Entry(number, folder, kind, 1, "", "", facts)


def write_import(folder: Path, number: int, base: int, texts: dict[str, str]) -> Entry:
    place = folder / f"{number:04}"
    place.mkdir()
    rows = [Translation(name, text, "a.xlf", 1) for name, text in sorted(texts.items())]
    (place / TRANSLATIONS).write_text(write_translations(rows), "utf-8")
    return entry(place, number, "import", base=base)


def in_force(imports: Sequence[tuple[int, dict[str, str]]], name: str) -> set[str]:
    """By the rule as one would say it: the texts of the answers to the newest packet."""
    newest = max((base for base, texts in imports if name in texts), default=0)
    return {texts[name] for base, texts in imports if name in texts and base == newest}


@settings(max_examples=30)
@given(IMPORTS, st.randoms())
def test_answers_to_the_newest_packet_are_in_force_in_whatever_order_they_came(
    imports: list[tuple[int, dict[str, str]]], random: object
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        entries = [
            write_import(Path(folder), number, base, texts)
            for number, (base, texts) in enumerate(imports, 1)
        ]
        state = LanguageState(entries, IDS)
        for name in IDS:
            answers = state.answers.get(name, ())
            texts = [answer.translation(name).text for answer in answers]
            assert set(texts) == in_force(imports, name)
            assert len(texts) == len(set(texts))
        assert set(state.disputed) == {name for name in IDS if len(in_force(imports, name)) > 1}
        random.shuffle(entries)  # type: ignore[attr-defined]
        assert LanguageState(entries, IDS).digest == state.digest


@pytest.mark.parametrize(
    ("row", "message"),
    read_cases("translation/project", "damaged_rows"),
)
def test_damaged_translations_are_named(tmp_path: Path, row: str, message: str) -> None:
    imported = write_import(tmp_path, 1, 1, {})
    path = imported.folder / TRANSLATIONS
    path.write_bytes(path.read_bytes() + row.encode("latin-1") + b"\n")
    with pytest.raises(InputError) as raised:
        _ = LanguageState([imported], IDS).translations
    assert str(raised.value) == f"{path}: {message}"


def test_the_digest_tells_texts_apart(tmp_path: Path) -> None:
    cases: list[dict[str, str]] = [
        {},
        {IDS[0]: "a"},
        {IDS[1]: "a"},
        {IDS[0]: "a", IDS[1]: "a"},
        {IDS[0]: "a\t"},
    ]
    entries = [write_import(tmp_path, n, 1, texts) for n, texts in enumerate(cases, 1)]
    assert len({LanguageState([one], IDS).digest for one in entries}) == len(cases)


def test_what_has_to_come_back(tmp_path: Path) -> None:
    first = entry(tmp_path, 1, "packet", ids=[])
    came = write_import(tmp_path, 2, 1, {IDS[0]: "a", IDS[1]: "b"})
    again = entry(tmp_path, 3, "packet", ids=[IDS[0]])
    assert LanguageState([first], IDS).awaited == set(IDS)
    assert LanguageState([first, came], IDS).awaited == {IDS[2]}
    assert LanguageState([first, came, again], IDS).awaited == {IDS[0], IDS[2]}
    same = write_import(tmp_path, 4, 3, {IDS[0]: "a"})
    assert LanguageState([first, came, again, same], IDS).awaited == {IDS[2]}
    assert counts_of(LanguageState([first, came], IDS)) == (2, 1, 0)


def test_the_name_of_a_state_before_any_check(tmp_path: Path) -> None:
    packet = entry(tmp_path, 1, "packet", ids=[])
    some = write_import(tmp_path, 2, 1, {IDS[0]: "a"})
    rest = write_import(tmp_path, 3, 1, {IDS[1]: "b", IDS[2]: "c"})
    again = entry(tmp_path, 4, "packet", ids=[IDS[1]])
    back = write_import(tmp_path, 5, 4, {IDS[1]: "d"})
    journal = [packet, some, rest, again, back]
    names = [LanguageState(journal[:length], IDS).name for length in range(6)]
    assert names == ["new", "sent", "partly back", "back", "sent", "back"]


def test_a_check_holds_for_what_it_has_checked(tmp_path: Path) -> None:
    packet = entry(tmp_path, 1, "packet", ids=[])
    came = write_import(tmp_path, 2, 1, dict.fromkeys(IDS, "a"))
    digest = LanguageState([packet, came], IDS).digest
    check = entry(tmp_path, 3, "check", digest=digest, errors=0)
    checked = [packet, came, check]
    assert LanguageState(checked, IDS).name == "checked"
    same = write_import(tmp_path, 4, 1, {IDS[0]: "a"})
    assert LanguageState([*checked, same], IDS).check == check
    other = write_import(tmp_path, 5, 1, {IDS[0]: "b"})
    assert LanguageState([*checked, same, other], IDS).check is None
    sent = entry(tmp_path, 5, "packet", ids=[])
    assert LanguageState([*checked, same, sent], IDS).check is None
