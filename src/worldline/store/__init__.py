"""The only package that talks SQL."""
