"""
Vectorised recovery for starts on large stores: the result of core's, in less time.

The shell passes `recovery.bulk_scan` to the message store unless it was started with
``--no-fast``; core does not import this package. Begin reading there. Tests in
``reference/tests/fast`` compare the result with core's.
"""
