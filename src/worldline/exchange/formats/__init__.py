"""One module for each format that can be imported; each has a `fits` and a `read`."""
