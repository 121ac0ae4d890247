"""Outcomes, causes and failure texts of runs, and the recorded pages."""
