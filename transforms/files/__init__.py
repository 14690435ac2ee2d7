"""The ground floor: reading and writing files of every kind, elements, counters, scratch, stages, builds.

In: paths on any file system of Beam. Out: bytes, rows and elements, and files whose bytes do not depend on
the number of workers. `builds/` reads and writes finished builds, their manifests and cards. Knows no other
room.

Modules that use Beam: counters, distribution, read_files, read_lines, released_layouts, scratch, stage_files,
stores, text_kinds, write_files, write_rows, builds.check_builds, builds.finished_builds,
builds.write_manifest
"""
