"""What no peer can see of the broker from outside."""
