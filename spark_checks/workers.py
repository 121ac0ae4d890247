"""
The daemon of Spark's Python workers on this machine.

Spark's own forks a worker for each task that runs at once, and each would import numpy,
Arrow and the layouts for itself. Here the daemon imports them first: so that is done
once, and the workers share the memory of it. Daemons for other modules than the worker
plan tables only, and import what they need.
"""

from __future__ import annotations

import importlib
import sys

from pyspark.daemon import manager

if __name__ == "__main__":
    if sys.argv[1:] == ["pyspark.worker"]:
        importlib.import_module("spark_checks.sources.survey")
    manager()  # type: ignore[no-untyped-call] # PySpark's
