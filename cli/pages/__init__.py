"""Pages and texts that combine results of several packages."""
