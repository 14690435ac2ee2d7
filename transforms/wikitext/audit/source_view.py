"""Extracts the running text of a page with mwparserfromhell. Each part that is not text becomes a slot.

The text consists of the parser's text, the visible part of links, and the content of tags. Templates,
formulas, references and images become slots. The module uses neither the cleaner of the corpus nor its tables
and rules, so that an audit is independent of them. The names of namespaces are taken from the dump.
"""

import contextlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

import mwparserfromhell
from mwparserfromhell import nodes

from .holes import is_prose, words_of

FIRST_SLOT = 0xF0000
"""The first of the characters that mark slots. They are in a plane for private use."""

MAX_SLOTS = 0xFFFF

TABLE, FILE = "{|", "[[File]]"
"""Names of the slots of tables and images."""

_LIST, _HEADING = "\ue000", "\ue001"
_RESERVED = re.compile("[\ue000\ue001\U000f0000-\U000fffff]")
SLOT = re.compile("[\U000f0000-\U000fffff]")

_QUOTES = re.compile("'{2,5}")
_SWITCH = re.compile(r"__[^\W\d_]{3,}__")
_LEFT_OVER = re.compile(r"\{\||\|\}|\{\{|\}\}|\[\[|\]\]|</?[a-z]+|^\s*[|!]|-\{|\}-|\|")
_NUMBER = re.compile(r"\W*(?:\d{1,3}[.)]|[*#•])\s*\S")  # of a list that is written by hand
_LABEL = re.compile(
    "[^\\w\U000f0000-\U000fffff]*\\w{1,4}[.)][^\\w\U000f0000-\U000fffff]*[\U000f0000-\U000fffff]"
)
_IMAGE = re.compile(r":[^:|]+\.(?:jpe?g|png|svg|gif|tiff?|webp)$", re.IGNORECASE)
_LANGUAGE_LINK = re.compile(r"[a-z]{2,3}(?:-[a-z-]+)?:")
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_BLOCKS = {"div", "p", "blockquote", "center", "poem", "section"}
_BREAKS = {"br", "hr"}
_TEXT_TAGS = _BLOCKS.union(
    "abbr b bdi bdo big cite code data del dfn em font i ins kbd mark nowiki onlyinclude".split(),
    "q rb rp rt ruby s samp small span strike strong sub sup time tt u var lang langconvert".split(),
)
_NOTES = {"ref", "references", "templatestyles", "indicator"}
_IMAGE_LINK = re.compile(r"\[\[[^\[\]|]+\.(?:jpe?g|png|svg|gif)\s*[|\]]", re.IGNORECASE)
_SOUND = re.compile(r"\.(?:og[ag]|oga|opus|mp3|wav|flac|midi?)$", re.IGNORECASE)
_NOTE_ARGUMENTS = {"p", "pp", "loc", "group", "page", "pages"}
_HIDING = {"ref", "gallery", "imagemap", "timeline", "graph", "mapframe"}
_WITHOUT_WORDS = {"noinclude", "includeonly"}


class Slot(NamedTuple):
    """A part of the running text that the parser does not render: a template, formula, reference or image."""

    name: str  # of the template, "Coord"; else "<math>", "<ref>", TABLE or FILE
    wikitext: str
    is_note: bool = False  # a reference, image or table, which shows nothing on purpose
    arguments: tuple[str, ...] = ()  # of a template with few arguments; else ()

    @property
    def norms(self) -> list[str]:
        """The normalised words of the slot's wikitext."""
        return [word.norm for word in words_of(self.wikitext)]


class Line(NamedTuple):
    """A line of a page's wikitext, with slots for the parts that are not text."""

    kind: str  # "text", "list", "code", "heading", "slots" or "unclear"
    text: str  # with slots


class SourceView(NamedTuple):
    """The content of a page's wikitext: its lines, slots, and texts that are hidden on the page."""

    lines: Sequence[Line]  # without empty ones
    slots: Sequence[Slot]
    hidden: Sequence[str]  # wikitext of references, images and tables

    def slot(self, character: str) -> Slot:
        """Returns the slot (such as a template) that is represented by a character in the text of a line."""
        return self.slots[ord(character) - FIRST_SLOT]

    def slots_in(self, text: str) -> list[Slot]:
        """Returns the slots that are represented by characters in a text."""
        return [self.slot(character) for character in SLOT.findall(text)]

    def wikitext(self, text: str) -> str:
        """Replaces each character that represents a slot (such as a template) by the wikitext of the slot."""
        return SLOT.sub(lambda found: self.slot(found[0]).wikitext, text)


def name_of(slots: Sequence[Slot]) -> str:
    """Returns the name of the first slot that is not a note, or "" if there is none."""
    return next((slot.name for slot in slots if not slot.is_note), "")


def view_source(wikitext: str, hidden_namespaces: Collection[str]) -> SourceView:
    """Parses the wikitext of a page. Returns its lines, slots and hidden texts.

    Args:
      wikitext: the wikitext of the page.
      hidden_namespaces: the names of the namespaces for files, media and categories, in lower case.
    """
    code = mwparserfromhell.parse(_RESERVED.sub("", wikitext), skip_style_tags=True)
    page = _Page(hidden_namespaces)
    lines: list[Line] = []
    for line in page.lines(code):
        lines.append(line)
        if line.kind == "slots":
            lines += page.quoted(line)
    return SourceView(lines, page.slots, page.hidden)


class _Page:
    """Collects the slots and hidden texts of a page while its wikitext is read."""

    def __init__(self, hidden_namespaces: Collection[str]):
        self.slots: list[Slot] = []
        self.hidden: list[str] = []
        self._hidden_namespaces = hidden_namespaces

    def lines(self, code: mwparserfromhell.wikicode.Wikicode) -> list[Line]:
        shown = _QUOTES.sub("", _SWITCH.sub("", "".join(self.show(code))))
        return [_line_of(line) for line in shown.split("\n") if line.strip()]

    def quoted(self, line: Line) -> Iterator[Line]:
        """Yields the lines of prose in the arguments of the templates of a line.

        `line` consists only of templates, such as quotations. References and other notes are skipped. The
        yielded lines of text have the kind "list".
        """
        for character in SLOT.findall(line.text):
            slot = self.slots[ord(character) - FIRST_SLOT]
            for argument in () if slot.is_note else slot.arguments:
                if is_prose(argument, words_of(argument)):
                    for one in self.lines(mwparserfromhell.parse(argument, skip_style_tags=True)):
                        yield one._replace(kind="list") if one.kind == "text" else one

    def show(self, code: mwparserfromhell.wikicode.Wikicode) -> Iterator[str]:
        for node in code.nodes:
            if isinstance(node, nodes.Text):
                yield str(node.value)
            elif isinstance(node, nodes.Wikilink):
                yield from self._show_link(node)
            elif isinstance(node, nodes.Template):
                yield self._slot(_slot_of(node))
            elif isinstance(node, nodes.Tag):
                yield from self._show_tag(node)
            elif isinstance(node, nodes.ExternalLink):
                if node.title:
                    yield from self.show(node.title)
                elif not node.brackets:
                    yield str(node.url)
            elif isinstance(node, nodes.HTMLEntity):
                with contextlib.suppress(ValueError, KeyError):
                    yield str(node.normalize())
            elif isinstance(node, nodes.Heading):
                yield f"\n{_HEADING}{''.join(self.show(node.title)).strip()}\n"
            elif isinstance(node, nodes.Argument):
                yield self._slot(Slot("{{{", str(node)))
            elif not isinstance(node, nodes.Comment):
                yield self._slot(Slot(type(node).__name__, str(node)))

    def _slot(self, slot: Slot) -> str:
        if len(self.slots) >= MAX_SLOTS:
            return ""
        self.slots.append(slot)
        return chr(FIRST_SLOT + len(self.slots) - 1)

    def _show_link(self, link: nodes.Wikilink) -> Iterator[str]:
        title = str(link.title).strip()
        prefix, colon, _ = title.partition(":")
        if (colon and prefix.strip().casefold() in self._hidden_namespaces) or _IMAGE.search(title):
            if "\n\n" in str(link.text or ""):  # brackets that are never closed
                yield from self.show(link.text)
                return
            self.hidden.append(str(link.text or ""))
            yield self._slot(Slot(FILE, str(link), is_note=True))
        elif link.text is not None and str(link.text).strip():
            yield from self.show(link.text)
        elif _LANGUAGE_LINK.match(title):
            yield self._slot(Slot("[[xx:]]", str(link), is_note=True))
        else:
            yield from self.show(mwparserfromhell.parse(title.removeprefix(":")))

    def _show_tag(self, tag: nodes.Tag) -> Iterator[str]:
        name = str(tag.tag).strip().casefold()
        if tag.wiki_markup and name in ("li", "dd", "dt"):
            yield _LIST
        elif name in _BREAKS:
            yield " "
        elif name == "table":
            self.hidden.append(str(tag.contents))
            yield f"\n{self._slot(Slot(TABLE, str(tag), is_note=True))}\n"
        elif name in _TEXT_TAGS:
            if any(_HIDDEN_STYLE.search(str(one)) for one in tag.attributes):
                self.hidden.append(str(tag.contents))
                return
            edge = "\n" if name in _BLOCKS else ""
            yield edge
            yield from self.show(tag.contents)
            yield edge
        elif name not in _WITHOUT_WORDS:
            if name in _HIDING:
                self.hidden.append(str(tag.contents))
            yield self._slot(Slot(f"<{name}>", str(tag), is_note=name in _NOTES))


def _slot_of(template: nodes.Template) -> Slot:
    name = " ".join(re.sub(r"<!--.*?-->", "", str(template.name), flags=re.DOTALL).split())
    name = name.partition(":")[0]
    name, slash, _ = name.partition("/")
    positional, named = [], {}
    for one in template.params:
        key, value = str(one.name).strip(), str(one.value).strip()
        if one.showkey and not key.isdecimal():
            named[key] = value
        else:
            positional.append(value)
    return Slot(
        (name[:1].upper() + name[1:].replace("_", " ")).strip() + slash,
        str(template),
        is_note=_is_note(positional, named),
        arguments=(*positional, *named.values()) if len(template.params) <= 6 else (),
    )


def _is_note(positional: Sequence[str], named: Mapping[str, str]) -> bool:
    """Returns True if a template is not meant to show text, judged from its arguments.

    Such a template is a reference, a request for a reference, an image or a sound.
    """
    if any(re.match("https?://", value) for value in named.values()):
        return True
    values = (*positional, *named.values())
    if any(map(_SOUND.search, values)) or any(map(_IMAGE_LINK.match, values)):
        return True
    if not any(positional):
        if positional and not any(named.values()):
            return True  # "{{lang-en|}}" shows a label at most
        return 0 < len(named) <= 3 and any(re.search(r"\d{4}", one) for one in named.values())
    return not named.keys().isdisjoint(_NOTE_ARGUMENTS)


def _line_of(line: str) -> Line:
    start = SLOT.sub("", line)
    if start.startswith(_HEADING):
        return Line("heading", line.replace(_HEADING, ""))
    plain = line.replace(_LIST, "")
    if _LIST in line[:3] or start.startswith(_LIST):
        return Line("list", plain)
    if line.startswith(" "):
        return Line("code", plain)
    if not re.search(r"\w", SLOT.sub("", plain)):
        return Line("slots", plain)
    if _LABEL.match(plain) or _NUMBER.match(SLOT.sub("", plain)):
        return Line("list", plain)
    return Line("unclear" if _LEFT_OVER.search(plain) else "text", plain.strip())
