"""
Columns of numbers: joins, order-independent sums, and numbers in short texts.
"""
