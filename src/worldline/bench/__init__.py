"""Benchmarks that anyone can run on public files."""
