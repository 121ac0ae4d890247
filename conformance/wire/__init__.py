"""What crosses a connection: frames, headers, and what is done about bad ones."""
