"""Results of measurements, their page and their charts."""
