"""The distribution as users install it: wheel, action, containers, first steps."""
