"""Derivatives of layouts: readers, plans, prints, vectors, explanations."""
