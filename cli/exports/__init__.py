"""What ``rmqc spec export`` writes: one module for each family of formats."""
