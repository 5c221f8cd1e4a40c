"""From a question to what is remembered: reads that never write."""
