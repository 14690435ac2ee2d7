"""Models learned from corpora: word vocabularies, SentencePiece, token files, n-grams.

In: sentences or finished builds. Out: models, token files and counts. Knows transforms/files, wikitext (the
markers of articles) and duplicates (hashes).

Modules that use Beam: count_ngrams, count_words, estimate_ngrams, read_sentences, score_text,
train_pieces, write_tokens
"""
