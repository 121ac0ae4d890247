"""
Harness: starts targets, sends requests, compares responses, and reports the results.

Begin with ``targets/target.py`` (what is examined), ``client/client.py`` (how it is
queried), and ``pytest_plugin/plugin.py`` (how tests become verdicts).
"""
