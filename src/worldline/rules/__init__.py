"""Pure decisions: values in, values out, no store and no clock."""

TURNS = 8
"""A stretch of talk on one topic is at most so long; whoever looks for the turns around one goes as far."""
