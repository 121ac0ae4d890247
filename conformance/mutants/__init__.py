"""Small wrong peers: the reference with one thing made wrong, and who must notice."""
