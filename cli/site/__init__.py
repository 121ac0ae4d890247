"""
The project's site: ``rmqc site -o DIR``.

Begin with ``build.py``. Pages are Markdown, and mkdocs-material makes the site of them.
"""
