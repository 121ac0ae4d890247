"""
Execution of the checks after the survey.

Begin with `run_checks`: it has the surveyed store that each check takes. `compare_rows`
compares the parts of suspect queues that `suspect_parts` finds, `match_ledger` the rows
of system topics.
"""
