"""
Spark data sources for the files of a store, one module per kind of file.

Begin with `table_source`: it holds the class that all sources share. `commit_log` and
`index` are the largest sources. `register` registers those that SQL users need.
"""
