"""A client's decisions, as 4.6.0 takes them: values in, values out, time passed in."""
