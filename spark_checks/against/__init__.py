"""
Comparison of two stores of one commit log: a slave with its master, before and after.

Begin with `comparison`. `findings` turns its result into findings, `document` into
JSON.
"""
