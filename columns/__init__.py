"""
Numpy reader of message records: columns with one entry per record.

Begin with `log_batch`: it follows record sizes and gathers the fields of thousands of
records, by plans that ``spec.derive.batch_plan`` derives from the layout.
``reference.fast`` and ``spark_checks`` use it. It imports neither, and no pyspark.

Recovery needs the modules of this folder only. Audits also use the packages: `scan`
reads damaged files, `numbers` compares columns of numbers, and `kernels` has compiled
versions of some functions.
"""
