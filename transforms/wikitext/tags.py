"""Removes HTML tags and decodes entities. Text between tags is kept, unless it is hidden on the page.

Removes comments and the tags whose content is not wikitext, such as references, formulas and galleries.

MediaWiki handles these before it parses the page, so the parser never sees their content.

Splits a page into wikitext and verbatim parts, in which markup is not interpreted.

Verbatim parts are comments, code and formulas.

Removes tables and HTML lists from wikitext.

Removes behavior switches such as `__NOTOC__`, in all languages.
"""

import functools
import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from html.entities import html5

from .marks import (
    BREAK,
    FORMULA_END,
    FORMULA_START,
    GUARD,
    HOLE,
    ROW,
    SECTION,
    SEPARATOR,
    protect,
)
from .templates.patterns import superscript
from .wikis import longest_switch, switches

_BLOCK_NAMES = "p|div|center|blockquote|poem|h[1-6]|hr|li|dd|dt|tr|td|th|caption|tbody|thead"
_INLINE_NAMES = (
    "b|i|u|s|em|strong|strike|small|big|sub|sup|span|font|code|tt|kbd|samp|var|cite|dfn|abbr"
    "|del|ins|bdi|bdo|wbr|rb|rp|rt|rtc|ruby|mark|time|data|noinclude|onlyinclude|includeonly"
    "|table|ul|ol|dl|ref|references|nowiki|math|chem|gallery|pre|source|syntaxhighlight"
    "|timeline|section|templatestyles|indicator|translate|languages|tvar|noref|center|a"
)
_WITHIN = rf"[^<>{SECTION}]*"
_TAG = re.compile(r"<[^<>]*+>")
_BREAKS = re.compile(rf"<(?i:br)\b{_WITHIN}+>\s*+(?:<(?i:br)\b{_WITHIN}+>\s*+)++")
_BREAK = re.compile(rf"</?(?i:br)\b{_WITHIN}>")
_BLOCK = re.compile(rf"</?(?i:{_BLOCK_NAMES})(?:\s{_WITHIN})?/?>")
_INLINE = re.compile(rf"</?(?i:{_INLINE_NAMES})(?:\s{_WITHIN})?/?>")
_INLINE_IN_QUOTES = re.compile(rf"'{_INLINE.pattern}(?=')")
_HIDDEN = re.compile(
    rf"<([A-Za-z]++)\s[^<>{SECTION}]*?\bstyle\s*+=[^<>{SECTION}]*?\bdisplay\s*+:\s*+none\b{_WITHIN}>",
    re.IGNORECASE,
)
_SUPERSCRIPT = re.compile(rf"<(?i:sup)(?:\s{_WITHIN})?>([^<>\n{SECTION}]{{1,40}}+)</(?i:sup)\s*>")
_RAISED = str.maketrans("–=ni", "⁻⁼ⁿⁱ")  # besides the characters of `superscript`
_HAS_FORM = re.compile(r"[0-9+\-−–=()ni]+")
# An exponent; not the letters of "19<sup>th</sup>" or the number of a note, "[1]".
_EXPONENT = re.compile(r"(?=.*[\d+−–/-])[\w+−–/.,()-]{1,12}")
_ITALIC_LETTER = re.compile(r"''+\w''+")
_QUOTATION = re.compile(rf"<(/?)[qQ](?:\s{_WITHIN})?/?>|{SECTION}")
_NO_MARKS = ("", "", "", "")
_UNDERSCORES = re.compile(r"(?:__|＿＿)(?=[^_＿])")
_ENTITY = re.compile(r"(&(?:#0*+[0-9]{1,7}|#[xX]0*+[0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)")
_MAX_ENTITIES = 4_096  # that are cached
_ADDRESS = re.compile(
    r"((?:https?|ftp)://[^\s/?#<>\[\]\"{|}]++)((?:[/?](?:&#|[^\s#<>\[\]\"{|}])*+)?)"
)
_NO_ADDRESS = re.compile(r"[\[\]\"|]")
_INVISIBLE = re.compile("[\u00ad\u1806\u200b-\u200d\u2060\ufe00-\ufe0f\ufeff]")


def strip_tags(text: str, quotation_marks: Sequence[str] = _NO_MARKS) -> str:
    """Removes the HTML tags that MediaWiki allows.

    Two line-break tags, or the tag of a block element, end a paragraph. `quotation_marks` are the marks that
    replace the tags of `<q>` elements: those of a quotation, and then those of a quotation in a quotation.
    """
    if "<" not in text:
        return text
    if "display" in text:
        text = _replace(text, _hidden_in(text))
    if "<sup" in text or "<SUP" in text:
        text = _SUPERSCRIPT.sub(_show_superscript, text)
    text = _BREAKS.sub(BREAK, text)
    text = _BREAK.sub(" ", text)
    text = _BLOCK.sub(BREAK, text)
    if "'<" in text and ">'" in text:
        text = _INLINE_IN_QUOTES.sub(f"'{SEPARATOR}", text)
    text = _INLINE.sub("", text)
    return _show_quotations(text, quotation_marks) if "<" in text else text


def _show_quotations(text: str, marks: Sequence[str]) -> str:
    """Replaces the tags of `<q>` elements by quotation marks. A tag without a partner is removed."""
    kept: list[str] = []
    position = 0
    opened: list[int] = []  # indexes in `kept` of marks that are not closed
    for tag in _QUOTATION.finditer(text):
        kept += (text[position : tag.start()], "")
        position = tag.end()
        if tag[0] == SECTION:
            kept[-1] = SECTION
            opened.clear()
        elif not tag[1]:
            opened.append(len(kept) - 1)
        elif opened:
            index = opened.pop()
            level = 2 * (len(opened) % 2)
            kept[index], kept[-1] = marks[level], marks[level + 1]
    kept.append(text[position:])
    return "".join(kept)


def _replace(text: str, spans: Iterable[tuple[int, int, str]]) -> str:
    """Replaces parts of a text. `spans` has the start, end and replacement of each, in order."""
    kept: list[str] = []
    position = 0
    for start, end, shown in spans:
        kept += (text[position:start], shown)
        position = end
    return "".join([*kept, text[position:]])


def drop_switches(text: str) -> str:
    """Removes MediaWiki's behavior switches. Other words between double underscores stay."""
    return _replace(text, _switches_in(text))


def _switches_in(text: str) -> Iterator[tuple[int, int, str]]:
    position = 0
    for opener in _UNDERSCORES.finditer(text):
        start, first = opener.span()
        end = text.find(opener[0], first, first + longest_switch()) + len(opener[0])
        if start >= position and end > first and text[start:end].casefold() in switches():
            yield start, end, ""
            position = end


def decode_entities(text: str) -> str:
    """Decodes named and numeric entities that end with a semicolon. The result is not decoded again."""
    if "&" not in text:
        return text
    if "://" in text:
        text = _ADDRESS.sub(_show_address, text)
    return _decode_all(text)


def _decode_all(text: str) -> str:
    pieces = _ENTITY.split(text)
    pieces[1::2] = map(_decode, pieces[1::2])
    return "".join(pieces)


def _show_address(address: re.Match[str]) -> str:
    """Returns a URL as MediaWiki displays it. Brackets and bars written as entities become `%5B` etc."""
    host, path = map(_decode_all, address.groups())
    if "<" in host + path or ">" in host + path:  # the address ends there
        return address[0]
    path = _NO_ADDRESS.sub(lambda found: f"%{ord(found[0]):02X}", path)
    return f"{_INVISIBLE.sub('', host)}{path}".replace("&", "&amp;")


@functools.lru_cache(_MAX_ENTITIES)
def _decode(entity: str) -> str:
    # An unknown name is kept: html.unescape would decode "&ampx;" as "&x;".
    name = entity[1:]
    return html.unescape(entity) if name[0] == "#" else html5.get(name, entity)


def _hidden_in(text: str) -> Iterator[tuple[int, int, str]]:
    """Yields the elements that are hidden on the page, such as sort keys in a table."""
    position = 0
    unclosed: set[str] = set()
    for opener in _HIDDEN.finditer(text):
        name = opener[1].lower()
        if opener.start() < position or name in unclosed:
            continue
        end = _end_of_element(text, opener.end(), name)
        if end < 0:
            unclosed.add(name)
            continue
        yield opener.start(), end, HOLE
        position = end


def _end_of_element(text: str, position: int, name: str) -> int:
    """Returns the position after an element whose content begins at `position`; -1 if it is not closed."""
    depth = 1
    for tag in re.finditer(rf"<(/?)(?i:{name})\b{_WITHIN}>|{SECTION}", text[position:]):
        if tag[0] == SECTION:
            return -1
        depth += -1 if tag[1] else 1
        if not depth:
            return position + tag.end()
    return -1


def _show_superscript(match: re.Match[str]) -> str:
    """Returns the text of a `<sup>` element.

    An exponent is "n", "i" or a letter in italics, or consists of letters, digits, signs, parentheses, points
    and commas with at least one digit or sign. It is written in superscript characters. If one of its
    characters has no superscript form, it is written after "^", or as plain text if no base precedes it. For
    other superscripts (ordinals, notes, phonetic symbols), only the tag is removed.
    """
    before, written = match.string[match.start() - 1 : match.start()], match[1]
    shown = decode_entities(written).replace("''", "").strip()
    if shown.isalpha() and shown not in ("n", "i") and not _ITALIC_LETTER.fullmatch(written):
        return written
    if _HAS_FORM.fullmatch(shown):
        return superscript(shown).translate(_RAISED)
    if _EXPONENT.fullmatch(shown) or shown.isalpha():
        return f"^{shown}" if before.isalnum() or before in (")", "'") else shown
    return written


_SILENT = (
    "ref|references|gallery|timeline|score|imagemap|graph|mapframe|maplink|templatedata|pre"
    "|templatestyles|section|hiero|inputbox|categorytree|indicator|includeonly|syntaxhighlight"
    "|source|math|chem|ce|nowiki|listing|rss|charinsert|dynamicpagelist|phonos|langconvert"
    "|img_auth|quiz|chess|pages|video|videoflash|ogg|abc|embed"
)
# The first character decides early about most tags, which are line breaks and ends of other tags.
_OPEN = re.compile(rf"<(?![/bBfFuU])(?:!--|(?ai:({_SILENT}))(\s[^<>]*?)?(/?)>)")
_CLOSE = {name: re.compile(rf"</(?i:{name})\s*>") for name in _SILENT.split("|")}
_CLOSE[""] = re.compile("-->")  # of a comment
_REST_OF_LINE = re.compile(r"[ \t]*\n")
_OPENING = (" ", "\u00a0", "(", "（", "[", "«", '"', "“")
_COMMAS, _AFTER_COMMA = (",", "،", "、"), (",", "،", "、", ".", "。", "։", "।")
_ADDRESS_BEFORE = re.compile(r"//[^\s\[\]<>\"]++$")
_MAX_ADDRESS = 300  # characters
_NO_BREAK = "&nbsp;"
_FORMULAS = {"math", "chem", "ce"}
# After a removed tag, these would make the line a list or code. After a comment only spaces matter: MediaWiki
# removes comments before it looks at lines.
_LIST_OR_CODE = (" ", "\t", "*", "#", ":", ";")
_BLANKS_AND_TEXT = re.compile(r"[ \t]+[^\s*#:;|!{]")
_MARKUP = "\n[]{}'=_-|"  # characters that mean more in pairs or at the start of a line
# Punctuation after white space. Before it there was a note, which was removed.
_STOP_AFTER_BLANK = re.compile(r"[ \n](?:[。．、，]|[.,;:!?،؛।։۔](?:\s|$))")
_STOP = re.compile(_STOP_AFTER_BLANK.pattern.removeprefix(r"[ \n]"))
_BLANKS = (" ", "\n")
_INCLUSION = re.compile(r"</?(?i:noinclude|onlyinclude)\s*+>")
_TEX_SPACE = r"(?:\\[,;:!> ]|\\q?quad\b|~|\\(?:text|display|script)style\b|\s|\\$)"
_TEX_START = re.compile(rf"^{_TEX_SPACE}+")
_TEX_END = re.compile(rf"{_TEX_SPACE}{{1,8}}$")  # bounded: tried at every position
_TEX_BRACES = re.compile(r"([{}])(?=\1)")


def _shown(name: str, attributes: str, content: str) -> str:
    """Returns the visible text of an element, given the name and attributes of its tag and its content.

    The content of nowiki, inline code and formula elements is visible. For other elements, returns "".
    """
    if name == "nowiki":
        shown = protect(decode_entities(content)).replace("\n", " ")
        return f"{GUARD}{shown}" if shown[:1] == " " else shown
    if name in _FORMULAS:  # its TeX, without spacing and style commands at its start and end
        tex = _TEX_END.sub("", _TEX_START.sub("", " ".join(content.split())))
        # A space in "}}" does not change a formula, and "} }" does not look like the end of a template.
        tex = _TEX_BRACES.sub(r"\1 ", tex)
        return f"{FORMULA_START}{protect(tex)}{FORMULA_END}" if tex else ""
    if name in ("syntaxhighlight", "source") and "inline" in attributes:
        return protect(content)
    return ""


def _filler(name: str, before: str, after: str) -> str:
    """Returns a mark that separates the texts before and after a removed tag, or "" if no mark is needed.

    Args:
      name: the name of the tag.
      before: the character before the tag, or "" at the start of the page.
      after: the characters after the tag.
    """
    if name == "nowiki":
        is_read = after[:1] in _MARKUP or after.startswith(_LIST_OR_CODE)
        return SEPARATOR if before in _MARKUP and is_read else ""
    if before == "\n" and _STOP.match(after):
        return HOLE
    if before == "\n" or not before:
        return GUARD if after.startswith(_LIST_OR_CODE) else ""
    if before in _OPENING or (before in _COMMAS and after[:1] in _AFTER_COMMA):
        return HOLE
    if before == "'":
        return SEPARATOR if after[:1] == "'" else ""
    return HOLE if after[:1] in _BLANKS and _STOP_AFTER_BLANK.match(after) else ""


def _last(kept: list[str]) -> str:
    """Returns the last character of a list of texts, or "" if the list is empty."""
    if not kept:
        return ""
    return " " if kept[-1].endswith(_NO_BREAK) else kept[-1][-1]


def strip_extensions(wikitext: str) -> str:
    """Removes comments and extension tags from wikitext.

    The visible text of tags is kept. Its markup characters are replaced by stand-ins (see `protect`).

    A comment without an end extends to the end of the page. If a tag is not closed, only the tag itself is
    removed.
    """
    if "nclude>" in wikitext:
        wikitext = _INCLUSION.sub("", wikitext)
    kept: list[str] = []
    position = 0
    unclosed: set[str] = set()
    opener = _OPEN.search(wikitext)
    while opener:
        start, end = opener.span()
        if position < start:
            kept.append(wikitext[position:start])
        if opener[1] is None:
            close = wikitext.find("-->", end)
            end = len(wikitext) if close < 0 else close + 3
            line_end = _REST_OF_LINE.match(wikitext, end)
            if line_end and (start == 0 or wikitext[start - 1] == "\n"):
                end = line_end.end()  # a comment on a line of its own is removed with the line
            elif wikitext[start - 1 : start] in ("", "\n") and _BLANKS_AND_TEXT.match(
                wikitext, end
            ):
                kept.append(GUARD)
        else:
            name = opener[1].lower()
            shown = ""
            if not opener[3]:
                closer = None if name in unclosed else _CLOSE[name].search(wikitext, end)
                if closer:
                    shown = _shown(name, opener[2] or "", wikitext[end : closer.start()])
                    end = closer.end()
                    before = kept[-1][-_MAX_ADDRESS:] if kept else ""
                    if name == "nowiki" and _ADDRESS_BEFORE.search(before):
                        shown = f"{SEPARATOR}{shown}"
                else:
                    unclosed.add(name)
                    if name == "nowiki" and opener[2]:  # "<nowiki / >" is text
                        shown = protect(opener[0])
            shown = shown or _filler(name, _last(kept), wikitext[end : end + 3])
            if shown:
                kept.append(shown)
        position = end
        opener = _OPEN.search(wikitext, position)
    kept.append(wikitext[position:])
    return "".join(kept)


_OPENER = re.compile(
    r"<(?:!--|((?ai:nowiki|pre|math|chem|ce|source|syntaxhighlight))\b[^<>]*(?<!/)>)"
)


def split_verbatim(wikitext: str) -> Iterator[tuple[str, bool]]:
    """Yields (piece, True if the piece is verbatim) for the pieces of a page, in order.

    Markup in a verbatim piece is not interpreted. A comment without an end extends to the end of the page. A
    tag without an end is not verbatim.
    """
    position = 0
    unclosed: set[str] = set()  # tags known to have no end; a page may open thousands
    for opener in _OPENER.finditer(wikitext):
        if opener.start() < position:
            continue
        name = (opener[1] or "").lower()
        if name in unclosed:
            continue
        closer = _CLOSE[name].search(wikitext, opener.end())
        if not closer and name:
            unclosed.add(name)
            continue
        yield wikitext[position : opener.start()], False
        position = closer.end() if closer else len(wikitext)
        yield wikitext[opener.start() : position], True
    yield wikitext[position:], False


def drop_verbatim(wikitext: str) -> str:
    """Returns the page without comments, code and formulas."""
    if "<" not in wikitext:
        return wikitext
    return "".join(text for text, is_verbatim in split_verbatim(wikitext) if not is_verbatim)


# Group 1 matches only in an opener.
_TABLE = re.compile(r"\n[ \t:]*(?:(\{\|)|\|\}(?!\}))")
_TABLE_OPENER = re.compile(r"\{(?:\||\{[({]!\}\})")
_TABLE_WITH_BARS = re.compile(
    r"\n[ \t:]*(?:(\{\||\{\{\{!\}\}(?!\})|\{\{\(!\}\})|(?:\||\{\{!\}\})\}(?!\})|\{\{!\)\}\})"
)
_BARS = {"{{(!}}": "{|", "{{!)}}": "|}", "{{!}}": "|"}  # in a table that is an argument
_HTML_BLOCK = re.compile(r"<(?:((?i:table|ul|ol|dl))\b[^<>]*|/(?i:table|ul|ol|dl)\s*)>")
_NO_LIST = re.compile(rf"<(?i:table|dl)\b|[{BREAK}{ROW}]")
_HTML_ITEM = re.compile(r"<(?i:li)\b[^<>]*>")
_WITHIN_ITEM = re.compile(r"</?(?i:li|ul|ol)\b[^<>]*>|\s+")


def _sub_spans(text: str, pattern: re.Pattern[str], fill: Callable[[str], str]) -> str:
    """Replaces each span of text that begins with an opener, such as `{|`, and ends with its closer, `|}`.

    `pattern` matches openers and closers. Group 1 is not empty for an opener. `fill` is called with a span
    and returns its replacement. An opener or closer without a partner is kept.
    """
    open_at: list[tuple[int, int]] = []  # (start of the opener, length of `spans` at that time)
    spans: list[tuple[int, int]] = []
    for match in pattern.finditer(text):
        if match[1]:
            open_at.append((match.start(), len(spans)))
        elif open_at:
            start, inner = open_at.pop()
            del spans[inner:]  # spans inside this one are replaced with it
            spans.append((start, match.end()))
    filled = ((start, end, fill(text[start:end])) for start, end in spans)
    return _replace(text, filled) if spans else text


def sub_tables(text: str, fill: Callable[[str], str]) -> str:
    """Replaces wikitables (`{|…|}`), including nested ones.

    `fill` is called with the wikitext of a table and returns its replacement. A table that is an argument of
    a template has `{{!}}` for each bar.
    """
    openers = set(_TABLE_OPENER.findall(text))
    if not openers:
        return text
    if text[0] in "{ \t:":  # no new line in front of the first table
        text = f"\n{text}"
    if openers != {"{|"}:
        return _sub_spans(text, _TABLE_WITH_BARS, lambda table: fill(_with_bars(table)))
    return _sub_spans(text, _TABLE, fill)


def _with_bars(table: str) -> str:
    for template, bar in _BARS.items():
        table = table.replace(template, bar)
    return table


def strip_html_blocks(text: str) -> str:
    """Removes HTML tables and `<dl>`, including nested ones, and writes `<ul>` and `<ol>` as wikitext."""
    return _sub_spans(text, _HTML_BLOCK, _wikitext_list) if "</" in text else text


def _wikitext_list(block: str) -> str:
    """Returns `<ul><li>A</li></ul>` as a line "* A", and BREAK for lists with tables and other blocks."""
    if _NO_LIST.search(block):
        return BREAK
    items = (_WITHIN_ITEM.sub(" ", item).strip() for item in _HTML_ITEM.split(block)[1:])
    return "\n" + "".join(f"* {item}\n" for item in items if item) + BREAK


def strip_tables(text: str) -> str:
    """Removes wikitables and HTML tables, including nested ones, and writes HTML lists as wikitext lists."""
    return strip_html_blocks(sub_tables(text, lambda _: f"\n{BREAK}"))


def drop_marks(text: str) -> str:
    """Removes superscripts in brackets, such as "[citation needed]", from the text of a template."""
    return _SUPERSCRIPT.sub(_without_mark, text) if "<sup" in text else text


def _without_mark(superscript: re.Match[str]) -> str:
    shown = html.unescape(_TAG.sub("", superscript[1])).strip()
    return "" if shown.startswith("[") and shown.endswith("]") else superscript[0]
