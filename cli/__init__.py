"""One command, ``rmqc``: it parses options and calls the rooms."""
