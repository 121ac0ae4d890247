"""Administration of a name server: KV config, lists, permissions and settings."""
