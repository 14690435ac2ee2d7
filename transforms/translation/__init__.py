"""Source sentences of a translation benchmark: passages, quotas, selection, and their table.

In: dumps of Wikimedia sites, or the documents of a user. Out: the sentences of source.tsv. Knows
transforms/files, models, wikipedia and wikitext.

Modules that use Beam: find_passages
"""
