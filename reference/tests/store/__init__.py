"""What no peer can see of the store from outside."""
