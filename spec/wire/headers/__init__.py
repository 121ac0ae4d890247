"""
Header fields of every request and response, in each release studied.

Begin with `header_table`, the tables as data. `request_headers` has the typed headers
of 4.6.0. `evolution` checks later releases against the compatibility clauses of
`header_rules`.
"""
