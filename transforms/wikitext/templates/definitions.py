"""Parses the definition of a template into a tree, and evaluates the tree with the arguments of a call.

`{{{name}}}` is replaced by the value of an argument, and `{{{name|default}}}` by the default if the argument
is missing. If there is no default either, MediaWiki displays the braces, but here the result is a hole (a
mark for missing text). Branches of `#if`, `#switch` etc. are evaluated only if they are chosen.

The precedence of braces follows https://www.mediawiki.org/wiki/Preprocessor_ABNF.

Reads the template pages of a dump: the aliases and definitions of templates.

Only definitions that can produce a part of a sentence are used. A definition that only calls a Lua module is
not used, nor is one with tables or boxes. https://www.mediawiki.org/wiki/Help:Templates explains which
parts of a template page are transcluded.
"""

import collections
import functools
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple, Protocol

from ...files.records import Page
from ..language import normalise_name
from ..marks import HOLE, UNKNOWN, drop_noncharacters, protect_braces
from ..tags import strip_extensions
from .parser_functions import PARSER_FUNCTIONS, comparable, evaluate, is_default, is_unknown
from .patterns import Arguments, Show, positional

MAX_NESTING = 60  # braces in braces, in one definition
NODE_COST = 10  # work for a node, besides the characters of its result

_TOKEN = re.compile(r"\{\{+|\}\}+|\[\[|\]\]|\|")
_PREFIXES = ("safesubst:", "subst:", "msg:")
_MAX_PREPARED = 4_096  # definitions
_MAX_DEPTH = 60  # of nested nodes, over all definitions
_ERROR = re.compile(r'class="[^"]*\berror\b')


class DefinitionError(ValueError):
    """Raised if a template's definition cannot be parsed, or if its evaluation takes too many steps."""


class Parameter(NamedTuple):
    """A parameter `{{{name|default}}}`."""

    name: "Parts"
    default: "Parts | None"


class Call:
    """A call `{{name|argument|…}}` of a template, a parser function or a variable."""

    def __init__(self, parts: "list[Parts]") -> None:
        self.parts = parts

    @functools.cached_property
    def cases(self) -> "list[tuple[Parts | None, Parts]]":
        """Returns the cases of a `#switch` as pairs (name, value).

        A case without `=` consists only of a name. Its pair is (None, name).
        """
        return [_at_equals(part) for part in self.parts[1:]]

    @functools.cached_property
    def plain_cases(self) -> "tuple[Mapping[str, int], int] | None":
        """Returns the indexes of the cases of a `#switch`, as `_indexes_of` does.

        Returns None if one of their names is not plain text.
        """
        names: list[str] = []
        for name, value in self.cases:
            key = value if name is None else name
            if not all(isinstance(node, str) for node in key):
                return None
            names.append("".join(map(str, key)))
        return _indexes_of(names)

    def case_of(self, wanted: str, indexes: Mapping[str, int], default: int) -> "Parts":
        """Returns the value of the `#switch` case that matches `wanted`; () if there is none.

        A case without a value has the value of the next case that has one. If no case matches, returns the
        default: the text of the last case if it has no `=`, otherwise the value of `#default`. `wanted` is in
        the form of `comparable`. For `indexes` and `default`, see `_indexes_of`.
        """
        cases = self.cases
        has_plain_default = bool(cases) and cases[-1][0] is None
        number = indexes.get(wanted, len(cases) if has_plain_default else default)
        while 0 <= number < len(cases) and cases[number][0] is None:
            number += 1
        if has_plain_default:
            number = min(number, len(cases) - 1)
        return cases[number][1] if 0 <= number < len(cases) else ()


def _indexes_of(names: Iterable[str]) -> tuple[dict[str, int], int]:
    """Returns the index of the first case with each name, and of the last `#default`; -1 if there is none.

    The names are in the form of `comparable`.
    """
    indexes: dict[str, int] = {}
    default = -1
    for index, name in enumerate(map(comparable, names)):
        indexes.setdefault(name, index)
        default = index if is_default(name) else default
    return indexes, default


Node = str | Parameter | Call
Parts = tuple[Node, ...]


def _at_equals(part: Parts) -> tuple[Parts | None, Parts]:
    for i, node in enumerate(part):
        if isinstance(node, str) and "=" in node:
            name, _, value = node.partition("=")
            return (*part[:i], name), (value, *part[i + 1 :])
    return None, part


class _Open:
    """An opening brace or bracket that is not closed yet, with the nodes that follow it."""

    def __init__(self, braces: int) -> None:
        self.braces = braces  # 0: a link
        self.parts: list[list[Node]] = [[]]


@functools.lru_cache(maxsize=_MAX_PREPARED)
def read_definition(definition: str) -> Parts:
    """Parses a definition and returns its tree.

    Raises:
        DefinitionError: braces are nested deeper than MAX_NESTING.
    """
    definition = strip_extensions(definition)
    stack = [_Open(0)]
    position = 0
    for token in _TOKEN.finditer(definition):
        if token.start() < position:
            continue
        if token.start() > position:
            stack[-1].parts[-1].append(definition[position : token.start()])
        text, position = token[0], token.end()
        if len(stack) > MAX_NESTING:
            raise DefinitionError("the braces are nested too deeply")
        if text[0] == "{":
            stack.append(_Open(len(text)))
        elif text == "[[":
            stack.append(_Open(0))
        elif text == "|" and len(stack) > 1:
            stack[-1].parts.append([])
        elif text == "]]" and len(stack) > 1 and not stack[-1].braces:
            _give_up(stack, "[[")
            stack[-1].parts[-1].append("]]")
        elif text[0] == "}":
            position = token.start() + _close(stack, len(text))
            stack[-1].parts[-1].append(definition[position : token.end()])
            position = token.end()
        else:
            stack[-1].parts[-1].append(text)
    stack[-1].parts[-1].append(definition[position:])
    while len(stack) > 1:
        _give_up(stack, "{" * stack[-1].braces or "[[")
    return _joined(stack[0].parts[0])


def _give_up(stack: list[_Open], opener: str) -> None:
    """Turns the innermost open braces or brackets into plain text, because they are not closed.

    `opener` is the text of these braces or brackets. `stack` has all open ones, the innermost last.
    """
    inner = stack.pop()
    into = stack[-1].parts[-1]
    into.append(opener)
    for i, part in enumerate(inner.parts):
        into.extend(["|", *part] if i else part)


def _close(stack: list[_Open], closers: int) -> int:
    """Closes the innermost open braces with at most `closers` closing braces.

    Returns the number of closing braces used.
    """
    left = closers
    while left >= 2:
        while len(stack) > 1 and not stack[-1].braces:
            _give_up(stack, "[[")
        if len(stack) == 1:
            break
        inner = stack.pop()
        width = 3 if inner.braces >= 3 and left >= 3 else 2
        parts = [_joined(part) for part in inner.parts]
        node = Parameter(parts[0], parts[1] if parts[1:] else None) if width == 3 else Call(parts)
        left -= width
        rest = inner.braces - width
        if rest >= 2:
            outer = _Open(rest)
            outer.parts[-1].append(node)
            stack.append(outer)
        else:
            stack[-1].parts[-1].extend(["{" * rest, node] if rest else [node])
    return closers - left


def _joined(nodes: list[Node]) -> Parts:
    """Joins consecutive texts in a list of nodes, and removes empty texts."""
    joined: list[Node] = []
    for node in nodes:
        if isinstance(node, str) and joined and isinstance(joined[-1], str):
            joined[-1] += node
        elif node != "":
            joined.append(node)
    return tuple(joined)


class Shower(Protocol):
    """A function that expands the templates and parser functions that `Evaluation` does not handle itself."""

    def __call__(self, name: str, arguments: Arguments, *, is_function: bool) -> str: ...


class Evaluation:
    """Evaluates the definitions of templates on one page, and limits the cost of doing so.

    Args:
        work: the maximum cost of all evaluations together. Each character of a result costs 1, and each node
            of a tree costs NODE_COST.
    """

    def __init__(self, work: int) -> None:
        self.work = work
        self._depth = 0

    def text(self, parts: Parts, arguments: Arguments, show: Shower) -> str:
        """Evaluates parts of a definition to text.

        Args:
            parts: the nodes of the definition's tree to evaluate.
            arguments: the arguments of the template call.
            show: expands the template calls and parser functions that this class does not handle.

        Raises:
            DefinitionError: the cost exceeds the limit, or the parts are nested too deeply.
        """
        self.work -= NODE_COST * len(parts)
        if self.work < 0 or self._depth > _MAX_DEPTH:
            raise DefinitionError("the definition is nested too deeply or needs too much work")
        self._depth += 1
        try:
            pieces = [
                node if isinstance(node, str) else self._node(node, arguments, show)
                for node in parts
            ]
        finally:
            self._depth -= 1
        text = "".join(pieces)
        self.work -= len(text)
        if self.work < 0:
            raise DefinitionError("the template definitions of this page take too long to render")
        return text

    def _node(self, node: Parameter | Call, arguments: Arguments, show: Shower) -> str:
        if isinstance(node, Parameter):
            given_value = arguments.get(self.text(node.name, arguments, show).strip())
            if given_value is not None:
                return protect_braces(given_value)
            return HOLE if node.default is None else self.text(node.default, arguments, show)
        head = self.text(node.parts[0], arguments, show).strip()
        while head.lower().startswith(_PREFIXES):
            head = head.partition(":")[2].lstrip()
        name, colon, first = head.partition(":")
        name = name.strip()
        name = name if name in PARSER_FUNCTIONS else name.lower()

        def part(number: int) -> str:
            rest = node.parts[number : number + 1]
            return self.text(rest[0], arguments, show).strip() if rest else ""

        if colon:
            first = first.strip()
            if name in CHOICES:
                chosen = _choose(
                    name, first, part, lambda case: self._switch(node, case, arguments, show)
                )
                return HOLE + UNKNOWN if chosen is None else chosen
            if name == "#ifexist":
                return part(2)  # pages are treated as missing
            if name == "#iferror":
                is_error = bool(_ERROR.search(first))
                return part(1) if is_error else part(2) if node.parts[2:] else first
            if name.startswith("#") or name in PARSER_FUNCTIONS:
                values = [first, *(part(i) for i in range(1, len(node.parts)))]
                numbered = {str(i): value for i, value in enumerate(values, start=1)}
                return show(name, numbered, is_function=True)
        given: dict[str, str] = {}
        count = 0
        for one in node.parts[1:]:
            key, value = _at_equals(one)
            shown = self.text(value, arguments, show)
            if key is None:
                count += 1
                given[str(count)] = shown.strip()
            else:
                given[self.text(key, arguments, show).strip()] = shown.strip()
        return show(head, given, is_function=False)

    def _switch(self, node: Call, wanted: str, arguments: Arguments, show: Shower) -> str:
        """Returns the text of the `#switch` case that matches `wanted`, or "" (see `Call.case_of`)."""
        self.work -= NODE_COST
        indexes, default = node.plain_cases or _indexes_of(
            self.text(value if key is None else key, arguments, show) for key, value in node.cases
        )
        parts = node.case_of(wanted, indexes, default)
        return self.text(parts, arguments, show).strip() if parts else ""


def _choose(
    name: str, first: str, part: Callable[[int], str], switch: Callable[[str], str]
) -> str | None:
    """Returns the text that a choice such as `#if` shows; None if this depends on an unknown value.

    Args:
        name: the name of the parser function, one of CHOICES.
        first: the value of its first argument.
        part: returns the value of a further argument; 1 for the second one.
        switch: returns the value of the case of a `#switch` with a name in the form of `comparable`.
    """
    if is_unknown(first) if name == "#if" else UNKNOWN in first:
        return None
    if name == "#switch":
        return switch(comparable(first))
    if name == "#if":
        return part(1 if first else 2)
    if name == "#ifeq":
        other = part(1)
        is_equal = comparable(first) == comparable(other)
        return None if UNKNOWN in other else part(2 if is_equal else 3)
    value = evaluate(first)
    return "" if value is None and first else part(1 if value else 2)


def _choice(name: str) -> Show:
    def show(arguments: Arguments, page: object) -> str:
        call = Call([(value,) for value in positional(arguments)])

        def switch(wanted: str) -> str:
            return "".join(map(str, call.case_of(wanted, *(call.plain_cases or ({}, -1)))))

        first = arguments.get("1", "")
        chosen = _choose(name, first, lambda one: arguments.get(str(one + 1), ""), switch)
        return HOLE if chosen is None else chosen.strip()

    return show


CHOICES = {name: _choice(name) for name in ("#if", "#ifeq", "#ifexpr", "#switch")}
"""The parser functions that show one of their arguments, in the wikitext of a page."""

MAX_DEFINITION = 256 * 1024  # characters; tables of a country's municipalities have 100,000
ENGLISH_TEMPLATE = "Template:"  # prefix of titles of templates in the English Wikipedia

Kind = Literal["alias", "definition"]


class TemplateFact(NamedTuple):
    """A fact about a template of a wiki: an alias or a definition."""

    name: str  # normalised, without its namespace
    kind: Kind
    value: str  # the name of the template, or the wikitext of the definition ("" for a note)


class WikiTemplates(NamedTuple):
    """A wiki's own template aliases and definitions, and the headings whose sections the cleaner drops.

    Template names and headings are normalised. Template names have no namespace.
    """

    aliases: Mapping[str, str] = {}  # redirects, and local names of templates of the tables
    definitions: Mapping[str, str] = {}  # name → wikitext that replaces the template, or ""
    # Headings of dropped sections → True if dropped at levels 1 and 2 only
    headings: Mapping[str, bool] = {}


NO_TEMPLATES = WikiTemplates()

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_ONLY = re.compile(r"<onlyinclude\s*>(.*?)</onlyinclude\s*>", re.DOTALL | re.IGNORECASE)
_NOT_INCLUDED = re.compile(
    r"<noinclude\s*/>|<noinclude\s*>.*?(?:</noinclude\s*>|\Z)", re.DOTALL | re.IGNORECASE
)
_INCLUDED = re.compile(r"</?includeonly\s*/?>", re.IGNORECASE)
# Blocks, boxes and parts that are not printed
_UNFIT = re.compile(
    r"\{\||</?(?:table|tr|td|gallery|imagemap|math|score|timeline|categorytree|inputbox)\b"
    r"|\b(?:navbox|infobox|[a-z]*mbox|stub)\b|\A[*#:;|!=]|\[https?:",
    re.IGNORECASE,
)
_BLOCK = re.compile(r"\s*<(?:div|center|ul|ol|dl|h[1-6]|hr)\b", re.IGNORECASE)
_QUOTED = re.compile(r"<(?:blockquote|poem)\b", re.IGNORECASE)
# Names of templates and modules that show values of Wikidata
WIKIDATA = re.compile(
    r"wikidata|wikibase|\Awd\Z|vikiveri|vikidat|vikiduom|vikiandm|wikipodat|викидан|вікідан|википод"
    r"|уикидан|βικιδεδομ|վիքիտվյալ|ვიკიმონაც|ויקינתונים|ويكي ?بيانات|ویکی[ \u200c]?داده|विकिडेटा"
    r"|উইকিউপাত্ত|วิกิสนเทศ|위키데이터|ウィキデータ|维基数据|維基數據"
)
_MODULE = re.compile(r"#invoke\s*:\s*([^|{}]*)", re.IGNORECASE)
_BRANCH = re.compile(r"#(?:if|switch)", re.IGNORECASE)
_FOOTNOTE_MARK = re.compile(r"\s*<sup\b.*</sup\s*>\s*", re.DOTALL | re.IGNORECASE)
_LINK_TARGET = re.compile(r"\[\[([^\[\]{}|#<>\n]{1,255})")
_LONE_LINK = re.compile(r"\[\[[^\[\]|{}:]+:[^\[\]|]*(?:\|[^\[\]]*)?\]\]\s*\Z")
_CALL = re.compile(r"\{\{\s*([^|{}<>\[\]#:\n]{1,255})")
_WORD = re.compile(r"\w")


def transcluded(wikitext: str) -> str:
    """Returns the part of a template page that is transcluded into the pages that use the template."""
    text = _COMMENT.sub("", drop_noncharacters(wikitext))
    only = _ONLY.findall(text)
    return "".join(only) if only else _INCLUDED.sub("", _NOT_INCLUDED.sub("", text))


def is_fit_for_prose(definition: str) -> bool:
    """Returns True if the wikitext of a definition looks as if it can produce a part of a sentence."""
    return (
        len(definition) <= MAX_DEFINITION
        and bool(_WORD.search(definition))
        and not _UNFIT.search(definition)
        and (not _BLOCK.match(definition) or bool(_QUOTED.search(definition)))
        and (
            bool(_BRANCH.search(definition))
            or all(WIKIDATA.search(normalise_name(one)) for one in _MODULE.findall(definition))
        )
    )


def read_template(page: Page) -> TemplateFact | None:
    """Returns the alias or definition on a page of the template namespace.

    Returns None if the page has no alias, and no definition that can be used.
    """
    name = _without_namespace(page.title)
    if page.is_redirect:
        target = _LINK_TARGET.search(page.text)
        title = page.redirect_target or (target[1] if target else "")
        return TemplateFact(name, "alias", _without_namespace(title)) if title else None
    if page.content_model != "wikitext" or len(page.text) > 8 * MAX_DEFINITION:
        return None
    definition = transcluded(page.text).strip()
    # A sentence is complete without a template that shows only a footnote, a footnote mark or a category.
    shown = _LONE_LINK.sub("", strip_extensions(definition)).strip()
    if definition and (not shown or _FOOTNOTE_MARK.fullmatch(shown)):
        return TemplateFact(name, "definition", "")
    return TemplateFact(name, "definition", definition) if is_fit_for_prose(definition) else None


def _without_namespace(title: str) -> str:
    return normalise_name(title.partition(":")[2] or title)


def sitelink_alias(english: str, local: str) -> TemplateFact | None:
    """Returns a fact that makes a template's local name an alias of its English name, or None.

    `english` and `local` are the titles of a Wikidata item's pages in the English Wikipedia and in the local
    wiki. Returns None if the item is not about a template, or if the names are equal.

    Aliases are needed because the language tables use the template names of the English Wikipedia. Template
    definitions that were copied from the English Wikipedia mostly use these names, too.
    """
    if not english.startswith(ENGLISH_TEMPLATE) or ":" not in local:
        return None
    name, value = _without_namespace(local), _without_namespace(english)
    return TemplateFact(name, "alias", value) if name != value else None


def count_calls(wikitext: str) -> collections.Counter[str]:
    """Returns how often each template is called in a wikitext: normalised template name → number of calls."""
    calls = collections.Counter(_CALL.findall(wikitext))
    counts: collections.Counter[str] = collections.Counter()
    for name, uses in calls.items():
        counts[normalise_name(name)] += uses
    return counts


def collect(facts: Iterable[TemplateFact]) -> WikiTemplates:
    """Collects facts about a wiki's templates into tables.

    If a template has several aliases or several definitions, the one that sorts first is used. So the result
    does not depend on the order of the facts.
    """
    tables: dict[Kind, dict[str, str]] = {"alias": {}, "definition": {}}
    for fact in sorted(facts, reverse=True):
        tables[fact.kind][fact.name] = fact.value
    return WikiTemplates(tables["alias"], tables["definition"])
