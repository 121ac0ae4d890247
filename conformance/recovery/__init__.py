"""Recovery: what a broker makes of its store when it starts again after a mishap."""
