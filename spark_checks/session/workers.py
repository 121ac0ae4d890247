"""
Daemon of Spark's Python workers, here and on a cluster.

Spark's own daemon forks workers that each import numpy, Arrow and the layouts. This one
imports them first, so that workers share them. It also loads the kernels if the driver
requests that. Tables are planned by daemons of Spark.
"""

from __future__ import annotations

import sys

from spark_checks.session.early_daemon import is_replaced_by_early_daemon
from spark_checks.session.kernel_request import are_kernels_requested
from spark_checks.session.worker_imports import (
    import_for_workers,
    keep_archive_listings,
    prefer_installed_pyspark,
)


def main() -> None:
    """Run the daemon for the module on the command line until Spark ends."""
    keep_archive_listings()
    prefer_installed_pyspark()
    if sys.argv[1:] == ["pyspark.worker"]:
        if is_replaced_by_early_daemon():
            return
        if are_kernels_requested():
            # Imported late: only daemons of a cluster come here.
            from spark_checks.session.cluster_workers import run_kept_code

            run_kept_code()
        import_for_workers()
    from pyspark.daemon import manager

    manager()  # type: ignore[no-untyped-call] # PySpark's


if __name__ == "__main__":
    main()
