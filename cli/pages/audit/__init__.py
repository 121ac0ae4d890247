"""
Output of an audit: table, JSON and HTML.

Begin with `report`. `advice` holds the next steps, `charts` the charts of the page.
"""
