"""
Audits of a whole store directory on Spark.

Begin with `audit`: it lists the files, surveys them, and compares rows where the
survey's sums differ.
"""
