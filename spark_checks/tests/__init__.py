"""
Tests of the audits: built stores, generated stores with faults, recorded stores.
"""
