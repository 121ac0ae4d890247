"""Generators of what the suites try, named after what they make."""
