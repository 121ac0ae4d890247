"""Forecasts of a start, compared with starts."""
