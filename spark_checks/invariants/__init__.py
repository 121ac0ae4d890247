"""What must be true of a whole store, one module a subject."""
