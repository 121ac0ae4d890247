"""All decoders: whole, cut, hostile and round-trip bytes."""
