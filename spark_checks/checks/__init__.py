"""
Selection and execution of the checks after the survey.

Begin with `run_checks`: it has the surveyed store that each check takes. `compare_rows`
compares suspect queues, `check_system_topics` the ledger of system topics, `check_keys`
keys and index items, `check_lmq_and_batch` the other queues.
"""
