"""What a broker writes to its store, read with the decoders of the specification."""
