"""Runs that commands start: of suites in `suites`, on store directories in `stores`."""
