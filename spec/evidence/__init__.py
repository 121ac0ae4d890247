"""
Outcomes of the clauses on each real release, one JSON file a release: data, no code.

``rmqc evidence record`` writes the files, and `spec.observed` reads them.
"""
