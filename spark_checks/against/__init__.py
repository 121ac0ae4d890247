"""Two stores of one commit log, compared: where they part, and what only one has."""
