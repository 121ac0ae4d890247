"""Exports and tables of ``rmqc spec``: one module for each family of formats."""
