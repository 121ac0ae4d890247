"""Commands of ``rmqc``, a module for each; ``cli.main`` imports it when invoked.

`suites` has those about targets, clauses and results, `stores` those about store
directories, `cluster` the broker and its clients.
"""
