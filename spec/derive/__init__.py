"""Other readers of a layout, each made from its declaration and tested equal to it."""
