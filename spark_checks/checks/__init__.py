"""
Selection and execution of the checks after the survey.

Begin with `run_checks`: it has the surveyed store that each check takes. `compare_rows`
compares suspect queues, `check_properties` system topics and keys,
`check_lmq_and_batch` the other queues.
"""
