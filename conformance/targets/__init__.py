"""How peers are started that the suite does not know: one TOML file each."""
