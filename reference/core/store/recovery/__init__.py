"""
Recovery of a store at a start: load, scan, truncate.

Begin with `recover`, which runs the steps. `rules` states how releases differ. `load`
selects the files, `scan` finds the begin and the physical end of the commit log, and
`queue_end` the end of a consume queue.
"""
