"""Normalises and tokenises lines, one block at a time."""

import functools

import apache_beam as beam

from corpusmill.transforms.files import counters
from corpusmill.transforms.files.line_blocks import count_lines
from corpusmill.transforms.news.character_classes import CURRENT_PERL
from corpusmill.transforms.news.line_tokenizer import LineTokenizer

STAGE = "tokenize-lines"


class TokenizeLines(beam.PTransform):
    """Normalises and tokenises lines. The number and the order of the lines do not change.

    PCollection[(index of a range, its lines as a block)] → PCollection of the same form.

    Args:
      language: language code of the rules and abbreviations, such as "en".
      lower_case: True to lower-case the tokens.
      perl: version of Perl whose Unicode tables define letters and digits.
    """

    def __init__(self, language: str = "en", lower_case: bool = False, perl: str = CURRENT_PERL):
        super().__init__()
        self.settings = language, lower_case, perl

    def expand(self, ranges: beam.PCollection) -> beam.PCollection:
        tokenize = beam.Map(tokenize_range, *self.settings)
        return ranges | "Tokenize" >> tokenize.with_output_types(tuple[int, bytes])


class TokenizeBlocks(TokenizeLines):
    """Normalises and tokenises blocks of lines. PCollection[block] → PCollection[block].

    It is used if lines are tokenised before they are sorted.
    """

    def expand(self, blocks: beam.PCollection) -> beam.PCollection:
        tokenize = beam.Map(tokenize_block, *self.settings)
        return blocks | "Tokenize" >> tokenize.with_output_types(bytes)


def tokenize_range(
    index_to_block: tuple[int, bytes], language: str, lower_case: bool, perl: str
) -> tuple[int, bytes]:
    """Returns (index of the range, tokenised lines), and counts the lines.

    Args:
      index_to_block: (index of the range, its lines as a block).
      language: language code of the rules and abbreviations, such as "en".
      lower_case: True to lower-case the tokens.
      perl: version of Perl whose Unicode tables define letters and digits.
    """
    index, block = index_to_block
    tokenized = tokenize_block(block, language, lower_case, perl)
    counters.count(STAGE, "lines", count_lines(block))
    counters.flush()
    return index, tokenized


def tokenize_block(block: bytes, language: str, lower_case: bool, perl: str) -> bytes:
    """Returns the tokenised lines of a block.

    Args:
      block: the lines to tokenise.
      language: language code of the rules and abbreviations, such as "en".
      lower_case: True to lower-case the tokens.
      perl: version of Perl whose Unicode tables define letters and digits.
    """
    return _tokenizer(language, lower_case, perl)(block)


_tokenizer = functools.lru_cache(1)(LineTokenizer)  # a worker keeps its tokenizer
