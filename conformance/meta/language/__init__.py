"""The language of the project: rules for prose and names, and their check."""
