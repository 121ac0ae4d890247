"""The clients that the suite is run on, what came of it, and the page of it."""
