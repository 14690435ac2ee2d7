"""News sentences as in One Billion Word: punctuation, tokens, the exact shuffle, vocabulary, shards.

In: lines of news. Out: shuffled shards, byte for byte those of the original Perl scripts. Knows
transforms/files and models.

Modules that use Beam: count_vocabulary, sort_lines, write_lines
"""
