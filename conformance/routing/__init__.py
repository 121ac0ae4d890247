"""What a name server must do, asked by a broker and by a client."""
