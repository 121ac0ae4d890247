"""What is made of runs on clients."""
