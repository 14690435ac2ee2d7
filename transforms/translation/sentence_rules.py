"""Rejects sentences that are not fit for translation.

Such sentences are incomplete, not prose, or unclear without the rest of their page. "Avoiding segments with
very short or malformed sentences" is all that Goyal et al. 2022, "The FLORES-101 Evaluation Benchmark",
section 3.1, say about the rules. The thresholds were chosen so that each rule rejects few good sentences
among the 1,012 English sentences of the devtest split of FLORES-101. Rejecting a good sentence does little
harm, because there are many others.

Assigns one of ten topics to an article, by the words in its categories and title (see topics.toml).

Goyal et al. 2022, section 4.2: "We manually classify the content of the sentences into one of 10 broader
topics". The assigned topic is a first guess, to be corrected by hand.
"""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..files.markup import read_toml

MIN_WORDS = 7
MAX_WORDS = 60
"""The range of the lengths of the released sentences, in words, which are separated by spaces.

Half of the sentences have 17 to 26 words.
"""

MAX_CHARACTERS = 400
"""The longest released sentence has 368 characters."""

MAX_SYMBOL_SHARE = 0.3
"""Share of digits, punctuation and other non-letters in the characters that are not spaces.

Half of the released sentences have at most 0.03. The highest share is 0.298: "The program started at 8:30
p.m. local time (15.00 UTC).".
"""

MAX_CAPITAL_SHARE = 0.2
"""Share of capitals in the letters. The released sentences have at most 0.18."""

MAX_FOREIGN_SHARE = 0.1
"""Maximum share of letters that are not Latin.

The limit allows a foreign word in its own script, but no phrase book entry.
"""

MIN_COMMON_SHARE = 0.1
"""Share of the commonest English words in all words.

All released sentences but two, which are lists, have more. Half of their translations into German, French,
Swahili, Turkish and Vietnamese have none."""

_CLOSERS = "\"'”’»)]"
_OPENERS = "\"'“‘«(["

_CONTROL = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ue000-\uf8ff\ufeff\ufff0-\uffff"
    "\U000e0000-\U0010ffff]"
)
_MARKUP = re.compile(
    r"[{}|<>\\]|\[\[|\]\]|==|''|~~~|__[A-Z]+__|&#?\w+;|https?:|www\.|\w@\w+\.\w"
    r"|(?i:\[(?:\d+|[a-z]|note \d+|citation needed|edit|who\?|when\?)\])(?!\w)"
)
_FORMULA = re.compile(r"[=*^]")
# A template that was not expanded leaves spaces or commas with nothing between them.
_GAP = re.compile(
    r"\([\s,;:]|\(\W*\)|\s\)|\[\s*\]|\s[,;:.?!%](?!\w)|,\s*[,;:.?!]|\s[-–—][,.;)]|“\s|\s”|(?<!\d),(?=[^\W\d])"
)
# "(He had a son.) In 1896": the sentence splitter does not split after a sentence in brackets.
_ASIDE = re.compile(r"\([^()]*[.!?]\)\s")
_LIST_ITEM = re.compile(r"[*#•·▪‣–—-]|\(?(?:\d{1,3}|[A-Za-z]|[ivx]{2,4})[.)](?=\s)|[Ss]tep \d+\b")
_END = re.compile(rf"[.!?…][{re.escape(_CLOSERS)}]*$")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"“]|(?<!\w)['‘])(?:"
    r"Mr|Mrs|Ms|Mx|Dr|St|Ste|Prof|Gen|Lt|Col|Maj|Capt|Cmdr|Adm|Sgt|Cpl|Sen|Rep|Gov|Pres|Rev|Hon"
    r"|Mt|Ft|Fr|Bros|Messrs|Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec|No|Nos|Vol|Fig|Op|pp?|eds?|vs?|cf"
    r"|ca?|approx|e\.g|i\.e|viz|al|dept"
    r"|[ap]\.m"  # "8:30 p.m." is followed by "EDT" or "local time" more often than by a new sentence
    r"|[^\W\d_])\.$"
    r"|-U\.$"  # "the then-U.S. president"
)
_LETTER_NAME = re.compile(
    r"\b(?:(?:and|or|from [A-Z] to|[Pp]lan|[Vv]itamin|[Hh]epatitis|[Tt]ype|[Gg]roup) [A-Z]|I)\.$"
)

_WORD = re.compile(r"[^\W\d_]+")
_COMMON = frozenset(
    "the of and to is was were are it they you that with for from this by on at an be has have had he"
    " she his her their its which not or as who when we i but if can will been after in a there these"
    " those what would do does did may should so than into about also more most such many some one all"
    " no our your my them him us how where while because".split()
)

_PARTS = r"(?:map|figure|table|picture|image|photo|box|list|diagram|chart|section|example|step)s?"
_SIDES = r"(?:at |on |to )?(?:the )?(?:left|right|top|bottom)"
_DANGLING = re.compile(
    rf"\((?:[^()]*\b)?(?:pictured|shown|above|below|{_SIDES})(?:,? (?:above|below|{_SIDES}))?\)"
    rf"|\b(?:pictured|shown|listed|described|discussed|given|mentioned) (?:here|below|above|{_SIDES})\b"
    rf"|\b(?:see|as in) (?:also\b|above|below|(?:the )?{_PARTS}\b)"
    rf"|\b{_PARTS} (?:above|below|(?:at|on|to) the (?:left|right))\b"
    rf"|\bthe following {_PARTS}\b|\bclick (?:here|on)\b"
    r"|\bbelow (?:is|are)\b|\b(?:this|these|following) links?\b"
    r"|\bthis (?:article|page|chapter|module|wikibook|guide|image|picture|photo|section)\b",
    re.IGNORECASE,
)


def reason_to_reject_sentence(text: str) -> str | None:
    """Returns the reason why a sentence is not fit for translation, or None if it is fit.

    `text` must have no spaces around it. The reason is the first one in this list that applies:

    - `control-character`: has a control, invisible, private-use or replacement character
    - `markup`: has remains of wikitext or HTML, an address, or the number of a reference
    - `list-item`: begins with a bullet, a number and a dot, or a step of a recipe
    - `lower-case`: begins with a lower-case letter, except for words like "iPhone"
    - `punctuation`: begins with punctuation, or with another sentence in brackets
    - `no-end`: does not end with a full stop, exclamation or question mark, like a heading or a caption
    - `abbreviation`: ends with an abbreviation or an initial, where the sentence was probably cut
    - `unbalanced`: has an unpaired quotation mark or bracket
    - `gap`: has a gap where something was lost: "( )", " ,"
    - `too-short`, `too-long`, `symbols`, `capitals`, `foreign-script`, `not-english`: see the constants of
      this module
    - `formula`: has a sign of formulas: "=", "*" or "^"
    - `dangling`: refers to another part of the page, as in "(pictured)", "see below" or "this article"
    """
    return next((slug for slug, is_broken in _RULES if is_broken(text)), None)


def _begins_lower(text: str) -> bool:
    bare = text.lstrip(_OPENERS)
    # "eBay", "iPhone" and "pH" are allowed.
    return bare[:1].islower() and not bare[1:2].isupper()


def _begins_with_punctuation(text: str) -> bool:
    bare = text.lstrip(_OPENERS)
    return not (bare[:1].isalnum() or re.match(r"[$€£¥₹]\d", bare)) or bool(_ASIDE.match(text))


def _is_unbalanced(text: str) -> bool:
    pairs = ("()", "[]", "“”", "«»")
    return text.count('"') % 2 == 1 or not all(_is_paired(text, *pair) for pair in pairs)


def _is_paired(text: str, opener: str, closer: str) -> bool:
    depth = 0
    for sign in text:
        depth += (sign == opener) - (sign == closer)
        if depth < 0:
            return False
    return depth == 0


def _has_many_symbols(text: str) -> bool:
    seen = "".join(text.split())
    return len(seen) - sum(map(str.isalpha, seen)) > MAX_SYMBOL_SHARE * len(seen)


def _has_many_capitals(text: str) -> bool:
    return sum(map(str.isupper, text)) > MAX_CAPITAL_SHARE * sum(map(str.isalpha, text))


def _is_foreign(text: str) -> bool:
    letters = [sign for sign in text if sign.isalpha()]
    return sum(not _is_latin(sign) for sign in letters) > MAX_FOREIGN_SHARE * len(letters)


def _is_not_english(text: str) -> bool:
    words = _WORD.findall(text.lower())
    return sum(word in _COMMON for word in words) < MIN_COMMON_SHARE * len(words)


def _is_latin(letter: str) -> bool:
    return letter < "\u0250" or "\u1e00" <= letter < "\u1f00" or letter in "ʻʼ"


_RULES: tuple[tuple[str, Callable[[str], object]], ...] = (
    ("control-character", _CONTROL.search),
    ("markup", _MARKUP.search),
    ("list-item", _LIST_ITEM.match),
    ("lower-case", _begins_lower),
    ("punctuation", _begins_with_punctuation),
    ("no-end", lambda text: not _END.search(text)),
    ("abbreviation", lambda text: _ABBREVIATION.search(text) and not _LETTER_NAME.search(text)),
    ("unbalanced", _is_unbalanced),
    ("gap", _GAP.search),
    ("too-short", lambda text: len(text.split()) < MIN_WORDS),
    ("too-long", lambda text: len(text) > MAX_CHARACTERS or len(text.split()) > MAX_WORDS),
    ("symbols", _has_many_symbols),
    ("capitals", _has_many_capitals),
    ("foreign-script", _is_foreign),
    ("not-english", _is_not_english),
    ("formula", _FORMULA.search),
    ("dangling", _DANGLING.search),
)
"""Reason → test. The first test that succeeds gives the reason."""


# A category is better evidence of the topic than a word in the title.
_CATEGORY_WEIGHT, _TITLE_WEIGHT = 2, 1


def topic_of(domain: str, title: str, categories: Sequence[str]) -> str:
    """Returns the topic of an article, one of TOPICS.

    A topic gets 2 points for each category that contains one of its words, and 1 point if the title contains
    one. The topic with the most points is returned. If several topics have equal points, the first one in the
    domain's table is returned. If no topic has points, the domain's default is returned. Categories may have
    a namespace prefix.

    Raises ValueError if there is no table for `domain`, which is usually "wikinews" or another of DOMAINS.
    """
    tables = _tables()
    if (default := tables["default"].get(domain)) is None:
        raise ValueError(
            f"no topics for the domain {domain!r}; there are tables for {', '.join(tables['default'])}"
        )
    names = [_bare(name.rpartition(":")[2]) for name in categories]
    scores: dict[str, int] = {}
    for topic, pattern in _patterns(domain, "categories").items():
        scores[topic] = _CATEGORY_WEIGHT * sum(1 for name in names if pattern.search(name))
    for topic, pattern in _patterns(domain, "titles").items():
        found = pattern.search(_bare(title)) is not None
        scores[topic] = scores.get(topic, 0) + _TITLE_WEIGHT * found
    best = max(scores, key=lambda topic: scores[topic], default="")
    return best if scores.get(best) else str(default)


def _bare(name: str) -> str:
    return " ".join(name.replace("_", " ").split())


def _tables() -> Mapping[str, Any]:
    return read_toml(__package__, "topics.toml")


@functools.cache
def _patterns(domain: str, kind: str) -> Mapping[str, re.Pattern[str]]:
    table = _tables()[domain].get(kind, {})
    wholes = {topic: rf"(?<!\w)(?:{'|'.join(words)})(?!\w)" for topic, words in table.items()}
    return {topic: re.compile(whole, re.IGNORECASE) for topic, whole in wholes.items()}
