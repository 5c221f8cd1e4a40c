"""What every store must do, on files and on a real server."""
