"""Start commands of foreign peers: one TOML file each."""
