"""
Reports: report.json, pages, badge, matrix, trends, known failures and evidence.

Begin with ``outcome.py`` and ``run_record.py``, the verdicts of a run, then
``report.py``, the content of report.json.
"""
