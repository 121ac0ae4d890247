"""What a person is shown of bytes: one module for each family of things."""
