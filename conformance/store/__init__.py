"""
The files of a broker's store, read with the decoders of the specification.

Begin with ``workload.py`` and ``files/test_records.py``.
"""
