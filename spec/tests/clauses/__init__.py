"""The form of clauses, of observations, and of changes between releases."""
