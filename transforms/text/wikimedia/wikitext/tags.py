"""Remove HTML tags and entities; text between the tags stays."""

import html
import re

from transforms.text.wikimedia.wikitext.marks import BREAK, SECTION, SEPARATOR

_BLOCK_NAMES = "p|div|center|blockquote|poem|h[1-6]|hr|li|dd|dt|tr|td|th|caption|tbody|thead"
_INLINE_NAMES = (
    "b|i|u|s|em|strong|strike|small|big|sub|sup|span|font|code|tt|kbd|samp|var|cite|dfn|abbr|q"
    "|del|ins|bdi|bdo|wbr|rb|rp|rt|rtc|ruby|mark|time|data|noinclude|onlyinclude|includeonly"
    "|table|ul|ol|dl|ref|references|nowiki|math|chem|gallery|pre|source|syntaxhighlight"
    "|timeline|section|templatestyles|indicator|translate|languages|tvar|noref|center|a"
)
_WITHIN = rf"[^<>{SECTION}]*"
_BREAKS = re.compile(rf"<(?i:br)\b{_WITHIN}+>\s*+(?:<(?i:br)\b{_WITHIN}+>\s*+)++")
_BREAK = re.compile(rf"</?(?i:br)\b{_WITHIN}>")
_BLOCK = re.compile(rf"</?(?i:{_BLOCK_NAMES})(?:\s{_WITHIN})?/?>")
_INLINE = re.compile(rf"</?(?i:{_INLINE_NAMES})(?:\s{_WITHIN})?/?>")
_INLINE_IN_QUOTES = re.compile(rf"'{_INLINE.pattern}(?=')")
_ENTITY = re.compile(r"&(?:#0*+[0-9]{1,7}|#[xX]0*+[0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


def strip_tags(text: str) -> str:
    """Remove the tags MediaWiki knows. Two line breaks, and every block tag, end a paragraph."""
    if "<" not in text:
        return text
    text = _BREAKS.sub(BREAK, text)
    text = _BREAK.sub(" ", text)
    text = _BLOCK.sub(BREAK, text)
    if "'<" in text and ">'" in text:
        text = _INLINE_IN_QUOTES.sub(f"'{SEPARATOR}", text)
    return _INLINE.sub("", text)


def decode_entities(text: str) -> str:
    """Decode named and numeric entities that end in a semicolon, each once."""
    if "&" not in text:
        return text
    return _ENTITY.sub(lambda match: html.unescape(match[0]), text)
