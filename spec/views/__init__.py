"""Views of bytes for people: one module for each family of structures."""
