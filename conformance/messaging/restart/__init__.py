"""Responses of a broker before and after an orderly stop and start."""
