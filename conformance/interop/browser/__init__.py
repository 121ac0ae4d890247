"""Pages of reports and of the site in a real browser."""
