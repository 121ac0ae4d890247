"""`rmqc audit` and `rmqc generate`: output, advice, options, pages."""
