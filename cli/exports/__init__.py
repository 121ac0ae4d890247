"""Exports of ``rmqc spec export``: one module for each family of formats."""
