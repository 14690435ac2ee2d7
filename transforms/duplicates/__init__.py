"""Texts that occur twice: MinHash, near-duplicates, overlap of data sets, contamination by evaluation sets.

In: documents, lines, and items of evaluation sets. Out: pairs, groups, and evidence for each item. Knows
transforms/files.

Modules that use Beam: find_contamination, find_overlap, read_texts, similar_documents
"""
