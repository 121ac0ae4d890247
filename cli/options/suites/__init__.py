"""Options of commands that run suites, and completions of their values."""
