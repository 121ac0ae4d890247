"""
Columns of numbers: tables joined by key, sums that do not depend on order, index items.
"""
