"""
Reports: report.json, known failures, and three packages with forms of a report.

Begin with ``outcome.py`` and ``run_record.py``, the verdicts of a run, then
``report.py``, the content of report.json. `terminal` is the end of a run, `pages` has
HTML, matrix and badge, `evidence` the recorded outcomes of real releases.
"""
