"""What no peer can see of the name server from outside."""
