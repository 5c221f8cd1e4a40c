"""Where people and programs meet the memory; nothing below knows about these."""
