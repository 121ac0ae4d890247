"""
Docker containers as clusters: engine, mounts, and removal after a killed run.

Begin with ``containers.py``.
"""
