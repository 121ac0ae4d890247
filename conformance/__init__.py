"""What a peer must do, asked from outside. Imports spec, never reference."""
