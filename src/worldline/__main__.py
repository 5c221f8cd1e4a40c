"""`python -m worldline` is the same as `worldline`."""

from worldline.surfaces.cli import main

if __name__ == "__main__":
    main(prog_name="worldline")
