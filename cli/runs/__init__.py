"""Runs of suites, audits and recoveries that commands start, one or several."""
