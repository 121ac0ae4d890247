"""Pages and matrices, made from recorded and planted reports."""
