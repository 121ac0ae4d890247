"""Vectorised recovery compared with core's, step by step and as a whole."""
