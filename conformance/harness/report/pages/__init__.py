"""
Pages made of reports, as HTML or Markdown: one run, several runs, and a badge.

Begin with ``run_page.py``. ``rendering.py`` fills the templates beside it.
"""
