"""Options, selections and output formats that several commands of ``rmqc`` share.

`suites` has those of commands that run suites.
"""
