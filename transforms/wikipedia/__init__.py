"""Dumps of Wikimedia: pages, exports, SQL tables, Wikidata, links between them, splits, articles.

In: the files of dumps. Out: articles about entities, with their splits; the entity table. Knows
transforms/wikitext, files, duplicates and models.

Modules that use Beam: article_rows, audit_pages, clean_wikitext, drop_older_pages, find_dumps, join_wikidata,
make_entity_table, read_dumps, read_entity_table, split_pins, train_subwords
"""
