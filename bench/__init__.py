"""What the project measures: ratios against the real thing, taken in one run."""
