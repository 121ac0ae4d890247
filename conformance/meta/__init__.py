"""The suite examined: what it claims about itself is checked here."""
