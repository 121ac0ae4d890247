"""The same generated program to two targets, and every difference of their answers."""
