"""A disk that is full, and files that cannot be written."""
