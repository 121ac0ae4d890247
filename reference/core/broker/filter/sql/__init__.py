"""
SQL92 expressions over message properties (Java: org.apache.rocketmq.filter).

Begin with `parser`, which turns the tokens of `lexer` into `expressions` over `values`.
"""
