"""Plants faults in released translations, and counts how many the checks see.

    CORPUSMILL_DATA=… python -m tests.tools.planted_translations [--seed 1] [--missed] [--untouched]

Each kind of fault is planted in 48 lines of 16 released devtest files of FLORES-101 and FLORES-200, or of
those of them in which it can occur. Lines with findings of their own are left alone. A fault is seen if
its line has a finding that it did not have before. `others` are new findings about untouched lines.
--missed prints the faults that are not seen. --untouched prints the findings about the files as they are,
and about the Xhosa reference of WMT 2021. --languages prints, for the first 200 lines of each file under the
name of each language, which error about the whole file they have.
"""

import argparse
import functools
import random
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from corpusmill.pipelines.translation import wrong_language
from corpusmill.pipelines.translation.check_numbers import with_ascii_digits
from corpusmill.pipelines.translation.project import find_source
from corpusmill.pipelines.translation.run_checks import check_translations, of_whole_file
from corpusmill.pipelines.translation.sentence_pairs import Pair
from corpusmill.pipelines.translation.target_languages import find_language
from corpusmill.transforms.files.records import Finding, SourceSentence, Translation
from tests.tools.case_tables import read_tables
from tests.tools.real_data import DATA

FLORES = DATA / "flores"
LATIN = "deu fra swh tur vie".split()
OTHER = "ara ell hin jpn khm_Khmr npi_Deva pbt_Arab rus sin_Sinh ukr zho_simpl".split()
FILES = sorted([*LATIN, *OTHER])
COUNT = 48
SAMPLE = 200
"""Lines of a file for the table of languages."""
MISSING = "\0"
ALPHABETS = [*LATIN, *"ara pbt_Arab hin npi_Deva rus ukr".split()]
_WORDS = read_tables("translation/planted")
_CLOSING = "\"'“”‘’„»«›‹」』）)] \u00a0\u202f\u200b"
_STOPS = ".。।።។۔"


class Line(NamedTuple):
    """A line into which a fault is planted."""

    code: str
    place: int  # from 0
    source: str
    text: str


Plant = Callable[[Line, random.Random], str | None]


def _lines_of(*parts: str) -> tuple[str, ...]:
    return tuple(FLORES.joinpath(*parts).read_text("utf-8").removesuffix("\n").split("\n"))


@functools.cache
def read_lines(code: str) -> tuple[str, ...]:
    """Returns the lines of a released file, such as "fra" or "npi_Deva"."""
    release = "flores200_dataset" if re.search("_[A-Z]", code) else "flores101_dataset"
    return _lines_of(release, "devtest", f"{code}.devtest")


@functools.cache
def read_sources() -> tuple[SourceSentence, ...]:
    """Returns the English sentences of devtest, with their articles."""
    return tuple(find_source(str(FLORES / "flores101_dataset")))


def check(code: str, texts: Iterable[str], sources: Sequence[SourceSentence] = ()) -> list[Finding]:
    """Checks the lines of a file; a line that is MISSING is left out."""
    sources = sources or read_sources()
    translations = {
        source.id: Translation(source.id, text, f"{code}.devtest", place)
        for place, (source, text) in enumerate(zip(sources, texts, strict=True), 1)
        if text != MISSING
    }
    return check_translations(sources, translations, find_language(code))


def _cut(text: str, share: float) -> int:
    """Returns where a word ends after a share of a text; in scripts without spaces, where a letter ends."""
    place = text.find(" ", int(len(text) * share))
    if place < 0 or place > 0.9 * len(text):
        place = int(len(text) * share)
    while unicodedata.category(text[place])[0] == "M" or text[place - 1] == "\u200b":
        place += 1
    return place


def _form(table: str, key: str) -> Plant:
    """Writes a line in one of the forms of a table, which are for all languages or for its language."""

    def write(line: Line, chance: random.Random) -> str | None:
        form = chance.choice([*_WORDS[table][key], *_WORDS[table].get(line.code, ())])
        first, second = _cut(line.text, 0.4), _cut(line.text, 0.6)
        parts = {
            "{word}": line.text[:first],
            "{next}": line.text[first:second],
            "{rest}": line.text[second if "{next}" in form else first :],
            "{}": line.text,
        }
        for name, value in parts.items():
            form = form.replace(name, value.strip())
        return form

    return write


def half(line: Line, _: random.Random) -> str | None:
    """The second half of the source after the first half of the translation."""
    source = line.source[_cut(line.source, 0.5) :].strip()
    is_long = len(source.split()) >= 6
    return f"{line.text[: _cut(line.text, 0.5)].strip()} {source}" if is_long else None


def _of_another_file(is_like: Callable[[set[str], set[str]], bool], least: int = 0) -> Plant:
    """The same sentence of a file whose scripts compare with those of this file as `is_like` says."""

    def write(line: Line, chance: random.Random) -> str | None:
        own = {*find_language(line.code).scripts}
        others = [c for c in FILES if c != line.code and is_like({*find_language(c).scripts}, own)]
        if len(line.text) < least or not others:
            return None
        return read_lines(chance.choice(others))[line.place]

    return write


def entity(line: Line, chance: random.Random) -> str | None:
    sign = chance.choice(_WORDS["signs"]["entities"])
    place = _cut(line.text, 0.3 + 0.4 * chance.random())
    return line.text[:place] + sign + line.text[place:]


def separator(line: Line, chance: random.Random) -> str | None:
    place = _cut(line.text, 0.3 + 0.4 * chance.random())
    return line.text[:place] + chance.choice("\u2028\u2029") + line.text[place:].lstrip()


def note(line: Line, chance: random.Random) -> str | None:
    words = chance.choice(_WORDS["notes"][line.code])
    place = len(line.text) if chance.random() < 0.5 else _cut(line.text, 0.5)
    return f"{line.text[:place].strip()} {words} {line.text[place:].strip()}".strip()


def alternatives(line: Line, chance: random.Random) -> str | None:
    """A word, or some letters, and "/" and another one."""
    other = re.findall(r"[^\W\d_]{3,}", read_lines(line.code)[line.place - 7])
    words = list(re.finditer(r"(?<!\S)[^\W\d_]{4,}(?!\S)", line.text))
    words = words or list(re.finditer(r"[^\W\d_]{4,}", line.text))
    if "/" in line.source or not words or not other:
        return None
    end = chance.choice(words).end()
    return (
        line.text[:end] + chance.choice(["/", " / "]) + chance.choice(other)[:12] + line.text[end:]
    )


def double_space(line: Line, chance: random.Random) -> str | None:
    places = [one.start() for one in re.finditer(r"(?<=\S) (?=\S)", line.text)]
    place = chance.choice(places) if places else _cut(line.text, 0.5)
    return line.text[:place] + (" " if places else "  ") + line.text[place:]


def lost_stop(line: Line, _: random.Random) -> str | None:
    bare = line.text.rstrip(_CLOSING)
    has_stop = bare[-1:] in _STOPS and not bare.endswith("..")
    if not has_stop or not line.source.rstrip(_CLOSING).endswith("."):
        return None
    return bare[:-1] + line.text[len(bare) :]


def lost_accents(line: Line, _: random.Random) -> str | None:
    """All but ASCII, and what ASCII has instead of it, as question marks."""
    text = re.sub(r"[‘’]", "'", re.sub(r"[“”„«»]", '"', line.text.replace("\u00a0", " ")))
    lost = text.encode("ascii", "replace").decode()
    return lost if sum(map(str.isalpha, text)) - sum(map(str.isalpha, lost)) > 1 else None


def mojibake(line: Line, chance: random.Random) -> str | None:
    wrong = line.text.encode("utf-8").decode(chance.choice(["latin-1", "cp1252"]), "replace")
    return wrong if sum(not c.isascii() for c in line.text) > 1 else None


def wrapped(line: Line, chance: random.Random) -> str | None:
    text = line.text.strip()
    has_marks = {text[0], text[-1], line.source[0]} & set("\"“”„«»「」『』'‘’")
    return None if has_marks else _form("signs", "quotes")(line, chance)


def _number(line: Line, least: int, change: Callable[[str], str | None]) -> str | None:
    """Changes a number that is in both lines, in its own digits."""
    plain = with_ascii_digits(line.text)
    source = set(re.findall(r"[0-9]+", line.source.replace(",", "")))
    for match in re.finditer(r"[0-9]+(?:[.,\u00a0\u202f ][0-9]{3})*(?![0-9.,:])", plain):
        if len(plain) != len(line.text) or plain[: match.start()].endswith((".", ",", ":")):
            continue
        digits = re.sub(r"[^0-9]", "", match[0])
        changed = change(match[0]) if digits in source and len(digits) >= least else None
        if changed is None or re.sub(r"[^0-9]", "", changed) in source:
            continue
        own = line.text[match.start()]
        zero = 0x30 if own.isascii() else ord(own) - unicodedata.decimal(own)
        written = "".join(chr(zero + int(c)) if c.isascii() and c.isdigit() else c for c in changed)
        return line.text[: match.start()] + written + line.text[match.end() :]
    return None


def _other_digit(text: str, chance: random.Random) -> str:
    place = chance.choice([place for place, char in enumerate(text) if char.isdigit()])
    digit = chance.choice([char for char in "123456789" if char != text[place]])
    return text[:place] + digit + text[place + 1 :]


def changed_number(line: Line, chance: random.Random) -> str | None:
    return _number(line, 2, lambda text: _other_digit(text, chance))


def magnitude(line: Line, _: random.Random) -> str | None:
    """A zero too few or too many."""
    return _number(line, 3, lambda text: _zeros(text, line.place % 2))


def _zeros(text: str, is_odd: int) -> str | None:
    changed = re.sub(r"[^0-9]", "", text)[:-1] if is_odd else f"{text}0"
    return changed if text.endswith("00") else None


KINDS: dict[str, tuple[Plant, list[str]]] = {
    "missing line": (lambda line, _: MISSING, FILES),
    "empty line": (lambda line, _: "", FILES),
    "untranslated": (lambda line, _: line.source, FILES),
    "half untranslated, Latin": (half, LATIN),
    "half untranslated, other scripts": (half, OTHER),
    "wrong script": (_of_another_file(set.isdisjoint), FILES),
    "other language": (_of_another_file(set.__eq__, 60), ALPHABETS),
    "swapped neighbours": (lambda line, _: None, FILES),
    "entities": (entity, FILES),
    "placeholders": (_form("signs", "placeholders"), FILES),
    "U+2028, U+2029": (separator, FILES),
    "translator's note": (note, FILES),
    "??? or (sic)": (_form("signs", "doubts"), FILES),
    "alternatives a/b": (alternatives, FILES),
    "double space": (double_space, FILES),
    "lost full stop": (lost_stop, FILES),
    "cut to 60 %": (lambda line, _: line.text[: _cut(line.text, 0.57)].strip(), FILES),
    "accents lost as ?": (lost_accents, ["deu", "fra", "tur", "vie"]),
    "letters lost as ?": (lambda line, _: line.text.encode("ascii", "replace").decode(), OTHER),
    "mojibake": (mojibake, [code for code in FILES if code != "swh"]),
    "words of a machine": (_form("machine", "any"), FILES),
    "markdown": (_form("signs", "markdown"), FILES),
    "quotes around the line": (wrapped, FILES),
    "number changed": (changed_number, FILES),
    "number, other magnitude": (magnitude, FILES),
}  # fmt: skip
ALL_LINES = "list numbers"


def plant(code: str, seed: int, taken: set[int]) -> tuple[dict[int, str], dict[int, str]]:
    """Plants the faults of a file, in lines that are not taken.

    Returns place → kind, and place → text of the line with the fault.
    """
    chance = random.Random(f"{seed} {code}")
    own, sources = read_lines(code), read_lines("eng")
    places = [place for place in range(len(own) - 1) if place not in taken]
    chance.shuffle(places)
    kinds: dict[int, str] = {}
    lines: dict[int, str] = {}
    # Kinds with the fewest suitable lines choose first.
    for kind in sorted(KINDS, key=lambda one: one.split(",")[0] != "number"):
        write, codes = KINDS[kind]
        wanted = share(codes, code)
        for place in places:
            if not wanted:
                break
            if place in lines or any(other in lines for other in (place - 1, place + 1)):
                continue
            line = Line(code, place, sources[place], own[place])
            if kind == "swapped neighbours":
                if place + 1 in taken:
                    continue
                lines |= {place: own[place + 1], place + 1: own[place]}
            elif (text := write(line, chance)) is None:
                continue
            else:
                lines[place] = text
            kinds[place] = kind
            wanted -= 1
    return kinds, lines


def share(codes: list[str], code: str) -> int:
    """Returns how many of the 48 faults of a kind are planted in a file."""
    if code not in codes:
        return 0
    place = codes.index(code)
    return COUNT * (place + 1) // len(codes) - COUNT * place // len(codes)


def new_findings(before: list[Finding], after: list[Finding]) -> dict[int, list[Finding]]:
    """Returns place of a line → findings that it did not have. The place of the whole file is -1."""
    known = {(one.id, one.rule, one.severity) for one in before}
    new: dict[int, list[Finding]] = defaultdict(list)
    for one in after:
        if (one.id, one.rule, one.severity) not in known:
            new[int(one.id[-4:]) - 1 if one.id else -1].append(one)
    return new


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--missed", action="store_true")
    parser.add_argument("--untouched", action="store_true")
    parser.add_argument("--files", nargs="*", default=FILES)
    parser.add_argument("--languages", action="store_true")
    args = parser.parse_args()
    if args.languages:
        print(f"| file | {' | '.join(NAMES)} |\n|---|{'---|' * len(NAMES)}")
        for code in FILES:
            row = (confusion(code, name) for name in NAMES)
            print(f"| {code} | {' | '.join(row)} |", flush=True)
        return
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    others: list[Finding] = []
    for code in args.files:
        own = read_lines(code)
        before = check(code, own)
        if args.untouched:
            print_findings(before)
        kinds, lines = plant(code, args.seed, {int(one.id[-4:]) - 1 for one in before if one.id})
        texts = (lines.get(place, text) for place, text in enumerate(own))
        new = new_findings(before, check(code, texts))
        for place, kind in kinds.items():
            count(counts[kind], new.get(place, []))
            if args.missed and place not in new:
                print(f"not seen: {kind}: {code} {place + 1}: {lines[place]}")
        others += [one for place in new.keys() - lines.keys() for one in new[place]]
        numbered = (f"{place}. {text}" for place, text in enumerate(own, 1))
        new = new_findings(before, check(code, numbered))
        for place in range(share(FILES, code)):
            count(counts[ALL_LINES], [*new.get(-1, []), *new.get(300 * place, [])])
    if args.untouched:
        print_findings(check_xhosa())
    print("| fault | planted | seen | as errors | rules |\n|---|---:|---:|---:|---|")
    for kind in (*KINDS, ALL_LINES):
        found = counts[kind]
        planted_, seen, errors = (found.pop(key, 0) for key in ("planted", "seen", "errors"))
        rules = ", ".join(f"{rule} {number}" for rule, number in found.most_common())
        print(f"| {kind} | {planted_} | {seen} | {errors} | {rules} |")
    print(f"others: {len(others)}")
    print_findings(others)


def count(counts: Counter[str], found: list[Finding]) -> None:
    """Counts a planted fault, with the findings about its line."""
    counts["planted"] += 1
    counts["seen"] += bool(found)
    counts["errors"] += any(one.severity == "error" for one in found)
    counts.update({one.rule for one in found})


NAMES = [*FILES, "zho_trad", "dyu", "ast"]


def confusion(code: str, name: str) -> str:
    """Returns the errors of a file under the name of a language: "l" for `wrong-language`, "s" for
    `wrong-script`, or "–".
    """
    language = find_language(name)
    pairs = [
        Pair(source, Translation(source.id, text, f"{name}.devtest", place))
        for place, (source, text) in enumerate(
            zip(read_sources()[:SAMPLE], read_lines(code), strict=False), 1
        )
    ]
    finders = (
        wrong_language.find_wrong_scripts,
        wrong_language.find_foreign_lines,
        wrong_language.find_limits,
    )
    found = [one for each in finders for one in each(pairs, language)]
    errors = (one for one in of_whole_file(found, SAMPLE) if not one.id and one.severity == "error")
    return "".join(sorted({one.rule.removeprefix("wrong-")[0] for one in errors})) or "–"


def check_xhosa() -> list[Finding]:
    """Checks the Xhosa reference of WMT 2021 with its Zulu source."""
    source, target = (
        _lines_of("wmt21-florestest", folder, f"florestest2021.zu-xh.{end}")
        for folder, end in (("sources", "src.zu"), ("references", "ref.A.xh"))
    )
    sources = [
        SourceSentence(f"test-{place:04}", "test", "", text, "", "", "", False, False)
        for place, text in enumerate(source, 1)
    ]
    return check("xho", target, sources)


def print_findings(findings: list[Finding]) -> None:
    for one in findings:
        print(f"{one.file}:{one.line}: {one.severity}: {one.rule}: {one.message}")


if __name__ == "__main__":
    main()
