"""Converts a page of the Chinese Wikipedia to one variant, such as simplified Chinese.

The conversion follows MediaWiki's LanguageConverter. All text is converted by MediaWiki's tables of
characters and words, which are taken from zhconv-rs. The longest match wins. No match extends over markup,
such as links, tags and apostrophes.

Text in the marks `-{…}-` is not converted. The exception is `-{zh-cn;zh-tw|A}-`: A is converted for the
listed variants. A mark with the flag A or H adds a conversion rule, and so does `{{NoteTA}}`. The rule is
valid from its position to the end of the page. `{{NoteTA|G1=…}}` refers to groups of rules in Lua modules.
These are not implemented.
"""

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from zhconv_rs import zhconv

from ..marks import FORMULA_END, FORMULA_START, SECTION, protect, protect_argument, restore
from ..tags import decode_entities
from ..templates.expand import parse_arguments
from .page_variants import Mark, PageVariants, read_mark

_Target = Literal["zh-cn", "zh-tw"]

# Noncharacters like those of `marks`; `convert` removes them.
_KEEP, _KEEP_END = "\ufde2", "\ufde3"  # around text that is not converted
_EDGE = "\ufde4"  # a link begins or ends
_RULES = "\ufde5"  # around the number of rule sets that are valid from here
_STOP = "\ufde6"  # see _convert_by_rules
_OURS = re.compile(f"[{_KEEP}{_KEEP_END}{_EDGE}{_STOP}]")
_KEEP_MARK = re.compile(f"([{_KEEP}{_KEEP_END}])")
_RULES_MARK = re.compile(f"{_RULES}([0-9]+){_RULES}")
# MediaWiki converts neither formulas nor code.
_UNCONVERTED = re.compile(
    rf"{FORMULA_START}[^{FORMULA_START}{FORMULA_END}]*+{FORMULA_END}"
    r"|<code\b[^<>]*+>[^<]*+</code\s*+>"
)
_SIMPLE_LINK = re.compile(r"\[\[(?:[^\[\]{}|:\n]++\|)?+([^\[\]{}|:\n]++)\]\]")  # as in `links`

# `-{{x}}` is a hyphen before a template, `{{x}}-` a hyphen after one. All alternatives begin with a fixed
# character, which makes the search fast.
_OPEN = r"-\{(?!\{(?!\{))"
_LINE_OF_PROSE = r"\n(?=[^*#:;|!={\s<_-])"
_CLOSE = rf"\}}++(?:-|{_LINE_OF_PROSE})?+"  # all of a run, or searching it would be quadratic
_NOTE_TA = r"\{\{\s*+(?i:noteta)(?:-lite)?\s*+\|(?:[^{}]++|\{\{[^{}]*+\}\})*+\}\}"
_TOKEN = re.compile(
    rf"(?P<open>{_OPEN})|(?P<close>{_CLOSE})|(?P<rules>{_NOTE_TA})"
    r"|(?P<heading>\n=[^\n]*=[ \t]*(?=\n))|(?P<blank>\n[ \t]*(?=\n))"
    rf"|(?P<table>\|\}}{_LINE_OF_PROSE})|(?P<section>{SECTION})"
)
_NO_MARK = f"-{protect('{')}"
_RULE_NUMBER = re.compile(r"[0-9]{1,2}")
_HAS_RULES = re.compile(r"-\{|\{\{\s*+(?i:noteta)")
_MAX_NESTING = 10  # as in MediaWiki
_SWITCHES_OFF = re.compile(r"__(?i:NOCC|NOCONTENTCONVERT|不转换内容)__")
_TITLE_OFF = re.compile(r"__(?i:NOTC|NOTITLECONVERT|不转换标题)__")

# Limits on the rules of a page; articles are far below these.
_MAX_RULE_SETS = 200
_MAX_PAIRS = 300
_MAX_WORD = 100  # characters
_NO_WORD = re.compile(r"[;&|\n{}\[\]<>\ufdd0-\ufdef]|''|=>")
_NO_REPLACEMENT = re.compile(r"[\n{}\[\]<>\ufdd0-\ufdef]|''")
_LONG_STRETCH = re.compile(r"[^\n。]{200}")


class _RuleSets:
    """The conversion rules that the marks `-{…}-` of a page add and remove, in page order."""

    def __init__(self) -> None:
        self._changes: list[tuple[Mapping[str, str], Mapping[str, str]]] = []  # added, removed
        self._count = 0  # pairs

    def __len__(self) -> int:
        return len(self._changes)

    def add(self, mark: Mark) -> None:
        """Records the rules that a mark adds and removes, unless the page has too many rules already."""
        added = dict(_usable(mark.added))
        room = len(self._changes) < _MAX_RULE_SETS and self._count + len(added) <= _MAX_PAIRS
        if (added or mark.removed) and room:
            self._changes.append((added, mark.removed))
            self._count += len(added)

    def pairs_after(self, count: int) -> Mapping[str, str]:
        """Returns the rules (from → to) that are valid after the first `count` marks that change rules."""
        pairs: dict[str, str] = {}
        for added, removed in self._changes[:count]:
            pairs.update(added)
            for word in removed:
                pairs.pop(word, None)
        return pairs


def _usable(pairs: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for word, replacement in pairs.items():
        word, replacement = decode_entities(word), decode_entities(replacement)
        if not word or max(len(word), len(replacement)) > _MAX_WORD:
            continue
        if not _NO_WORD.search(word) and not _NO_REPLACEMENT.search(replacement):
            yield word, protect(replacement)


def _keep(text: str) -> str:
    return f"{_KEEP}{_KEEP_MARK.sub('', text)}{_KEEP_END}"


def _set_aside(text: str) -> tuple[str, list[str]]:
    """Puts the sign _KEEP in place of each text that must not be converted.

    Returns the result and the list of replaced texts. Such a text begins with _KEEP and ends with _KEEP_END.
    If _KEEP_END is missing, the text is not replaced.
    """
    pieces: list[str] = []
    kept: list[str] = []
    inner: list[str] = []
    depth = 0
    for piece in _KEEP_MARK.split(text):
        if piece == _KEEP:
            depth += 1
        elif piece == _KEEP_END:
            depth = max(depth - 1, 0)
            if not depth and inner:
                kept.append("".join(inner))
                pieces.append(_KEEP)
                inner = []
        elif depth:
            inner.append(piece)
        else:
            pieces.append(piece)
    return "".join([*pieces, *inner]), kept


class ChinesePage(PageVariants):
    """Converts one page to a variant, by the conversion rules on the page and the tables of zhconv-rs.

    Args:
      text: the wikitext of the page.
      variants: the wanted variant, its fallbacks, and "zh".
    """

    def __init__(self, text: str, variants: Sequence[str]) -> None:
        self._target: _Target = "zh-cn" if variants[0] == "zh-cn" else "zh-tw"
        self._rules = _RuleSets()
        self._title: str | None = None
        self._is_converted = not _SWITCHES_OFF.search(text)
        self._has_converted_title = self._is_converted and not _TITLE_OFF.search(text)
        super().__init__(text, variants)
        if _HAS_RULES.search(text):
            self.text = self._read(text, takes_rules=True)

    def show(self, text: str) -> str:
        if "-{" in text:
            text = self._read(text, takes_rules=False)
        return _EDGE.join(_SIMPLE_LINK.split(text)) if "[[" in text else text

    def _read(self, text: str, *, takes_rules: bool) -> str:
        """Replaces the marks `-{…}-` in a text by their text for the variant.

        If `takes_rules` is True, also records the rules that the marks add and remove, and the positions from
        which they are valid.
        """
        pieces: list[str] = []
        outer: list[list[str]] = []  # pieces around the marks that are open
        position = 0
        for token in _TOKEN.finditer(text):
            kind = token.lastgroup
            if kind == "open" and len(outer) < _MAX_NESTING:
                pieces.append(text[position : token.start()])
                outer.append(pieces)
                pieces = []
            # A template ends with two braces, and a mark with one. A run of both, such as `}}}-`, has an odd
            # number of braces before the hyphen.
            elif kind == "close" and outer and token[0].endswith("-") and len(token[0]) % 2 == 0:
                pieces.append(text[position : token.end() - 2])
                mark = read_mark("".join(pieces), self._variants)
                pieces = outer.pop()
                pieces.append(self._apply(mark, takes_rules, is_nested=bool(outer)))
            elif kind in ("heading", "section"):
                pieces.append(text[position : token.start()])
                pieces = _reopen(pieces, outer)
                pieces.append(self._with_rules(kind, token[0], is_nested=not takes_rules))
            elif takes_rules and (kind in ("rules", "blank", "table") or token[0].endswith("}}\n")):
                pieces.append(text[position : token.start()])
                pieces.append(self._with_rules(kind, token[0], is_nested=bool(outer)))
            else:
                continue
            position = token.end()
        pieces.append(text[position:])
        return "".join(_reopen(pieces, outer))

    def _apply(self, mark: Mark, takes_rules: bool, *, is_nested: bool) -> str:
        if takes_rules:
            self._rules.add(mark)
            if mark.title is not None:
                self._title = mark.title
        if is_nested:
            return mark.shown
        shown = _keep(mark.shown) if mark.is_raw else mark.shown
        if "[[" not in shown and "{{" not in shown:
            shown = protect_argument(shown)
        changes = mark.added or mark.removed
        return (self._rules_mark() if changes and takes_rules else "") + shown

    def _with_rules(self, kind: str | None, text: str, *, is_nested: bool) -> str:
        """Returns a token with a sign that tells `convert` which conversion rules are valid from there on.

        If the token is a `{{NoteTA}}`, its rules are recorded, and the sign is inserted before it. All other
        tokens are ends of lines or blocks; the sign is inserted after them. No sign is inserted if no rules
        have been recorded yet.

        Args:
          kind: the name of the group of _TOKEN that matched the token; "rules" for a `{{NoteTA}}`.
          text: the token.
          is_nested: True to insert no sign, as for a token within a mark.
        """
        if kind == "rules":
            arguments = parse_arguments(text[2:-2].partition("|")[2])
            numbers = sorted(filter(_RULE_NUMBER.fullmatch, arguments), key=int)
            marks = [f"T|{arguments['T']}"] if arguments.get("T") else []
            marks += [f"H|{arguments[number]}" for number in numbers]
            for mark in marks:
                self._apply(read_mark(mark, self._variants), True, is_nested=True)
        if is_nested or not len(self._rules):
            return text
        if kind == "rules":
            return self._rules_mark() + text
        return text + ("\n" if kind == "heading" else "") + self._rules_mark()

    def _rules_mark(self) -> str:
        return f"{_RULES}{len(self._rules)}{_RULES}"

    def convert(self, text: str) -> str:
        if not self._is_converted:
            return _OURS.sub("", _RULES_MARK.sub("", text))
        if FORMULA_END in text or "<code" in text:
            text = _UNCONVERTED.sub(lambda match: _keep(match[0]), text)
        if _RULES not in text and _KEEP not in text:
            return self._convert(text, 0).replace(_EDGE, "")
        text, kept = _set_aside(text)
        parts = _RULES_MARK.split(text)
        numbered = zip([0, *map(int, parts[1::2])], parts[::2], strict=True)
        pieces = "".join(
            self._convert("".join(part for _, part in stretch), number)
            for number, stretch in itertools.groupby(numbered, key=lambda one: one[0])
        ).split(_KEEP)
        whole = [piece for pair in zip(pieces, kept, strict=False) for piece in pair]
        return _OURS.sub("", "".join([*whole, *pieces[len(kept) :]]))

    def convert_title(self, title: str) -> str:
        if not self._has_converted_title:
            return title
        if self._title is not None:
            return " ".join(restore(_OURS.sub("", decode_entities(self._title))).split())
        return restore(self._convert(title, len(self._rules)))

    def _convert(self, text: str, rule_sets: int) -> str:
        if text.isascii():
            return text
        rules = self._rules.pairs_after(rule_sets)
        pairs = {word: to for word, to in rules.items() if word in text}
        return self._convert_by_rules(text, pairs) if pairs else zhconv(text, self._target, False)

    def _convert_by_rules(self, text: str, pairs: Mapping[str, str]) -> str:
        """Converts a text by the tables of zhconv-rs and the rules in `pairs`, as if they were one table.

        `pairs` is {from: to}. zhconv-rs searches in turn for the next match of the tables and of the
        rules, and a search may run to the end of the text. To keep searches short, a separator that
        matches both is inserted after each sentence. It is removed from the result.
        """
        rules = "".join(f"{word}=>{self._target}:{to};" for word, to in pairs.items())
        stop = f"{_STOP}发發{_STOP}"
        text = _LONG_STRETCH.sub(lambda match: match[0] + stop, text)
        text = text.replace("。", f"。{stop}").replace("\n", f"\n{stop}")
        text = text.replace("-{", _NO_MARK)
        marked = f"-{{H|{rules}{_STOP}=>{self._target}:{_STOP}}}-{text}"
        return re.sub(f"{_STOP}[^{_STOP}]*{_STOP}", "", zhconv(marked, self._target, True))


def _reopen(pieces: list[str], outer: list[list[str]]) -> list[str]:
    """Turns the starts `-{` of unclosed marks into plain text. Returns the whole text, as a list of pieces.

    Args:
      pieces: the pieces of text after the start of the innermost unclosed mark.
      outer: for each unclosed mark, the pieces of text before its start; the outermost mark is first.
    """
    while outer:
        inner, pieces = pieces, outer.pop()
        pieces += [_NO_MARK, *inner]
    return pieces
