"""
Reports: report.json, pages, badge, matrix, trends, known failures and evidence.

Begin with ``report.py``, the content of report.json.
"""
