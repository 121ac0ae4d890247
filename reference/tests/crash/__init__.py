"""What a power cut may leave of a store, and what the store makes of it."""
