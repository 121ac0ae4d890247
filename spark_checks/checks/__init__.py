"""
Execution of the checks after the survey.

Begin with `run_checks`: it has the surveyed store that each check takes. `compare_rows`
compares suspect queues, `match_ledger` the rows of system topics.
"""
