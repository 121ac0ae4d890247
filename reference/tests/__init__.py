"""What no peer can see of the reference from outside."""
