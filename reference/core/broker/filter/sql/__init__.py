"""
SQL92 expressions over message properties (Java: org.apache.rocketmq.filter).

Begin with `parser`, which turns a text into `expressions` over `values`.
"""
