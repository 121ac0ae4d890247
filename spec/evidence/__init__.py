"""
What each real release was observed to do, one file a release: data, no code.

The files are written by ``rmqc evidence record`` and never by hand. `spec.observed`
reads them.
"""
