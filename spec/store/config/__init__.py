"""
Configuration files of a broker: JSON tables in the folder ``config`` of a store.

Begin with `config_files`, which lists the files, their names and their ``.bak`` copies.
`group_settings` and `filter_settings` describe subscriptionGroup.json and
consumerFilter.json.
"""
