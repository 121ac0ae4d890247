"""
The survey: all bytes of a store read once and reduced to sums.

Begin with `survey`: its tasks read ranges of files and merge their sums. `summary`
finds suspect queues in the result.
"""
