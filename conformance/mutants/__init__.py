"""Mutants: the reference with one seeded fault each, and the clauses that detect it."""
