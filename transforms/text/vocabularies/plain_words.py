"""The words of a text without what two editions of it differ in: case, quotation marks, dashes, emphasis.

Where Project Gutenberg has a book once with straight and once with curly quotes, only half of the 8-grams of
unchanged words may be the same, and nearly all of plain ones.
"""

import re

# In UTF-8: patterns that begin with one certain byte are searched for at the speed of memory.
_MARKS = (
    re.compile(rb"\xc2[\xa0-\xbf]"),  # signs of Latin-1
    re.compile(rb"\xe2[\x80\x81][\x80-\xbf]"),  # General Punctuation, with its blanks
    re.compile(rb"\xe3\x80[\x80-\x9f]"),  # CJK Symbols and Punctuation
    re.compile(rb"\xef(?:\xbc[\x81-\x8f\x9a-\xa0\xbb-\xbf]|\xbd[\x80\x9b-\xa5])"),  # full width
)
_MAYBE_UNSPACED = re.compile(rb"[\xe0\xe1\xe3-\xe9]")
_UNSPACED = re.compile(
    rb"(\xe0[\xb8-\xbb][\x80-\xbf]"  # Thai, Lao
    rb"|\xe1[\x80-\x82\x9e\x9f][\x80-\xbf]"  # Burmese, Khmer
    rb"|\xe3[\x81-\xbf][\x80-\xbf]|[\xe4-\xe9][\x80-\xbf]{2})"  # kana, Han
)
_TO_BLANKS = bytes(byte if byte > 127 or chr(byte).isalnum() else ord(" ") for byte in range(256))


def plain_words(text: str) -> str:
    """The text in lower case, with spaces for punctuation, signs and line ends.

    In scripts that set no spaces between words, each character becomes a word.
    """
    plain = text.lower().encode("utf-8")
    if not text.isascii():
        for marks in _MARKS:
            plain = marks.sub(b" ", plain)
        if _MAYBE_UNSPACED.search(plain):
            plain = _UNSPACED.sub(rb" \1 ", plain)
    return plain.translate(_TO_BLANKS).decode("utf-8")
