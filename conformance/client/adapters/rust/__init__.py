"""The Rust client rocketmq-client-rust, as docs/client_adapter.md requires it."""
