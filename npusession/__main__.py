"""``python -m npusession`` is the ``npusession`` command."""

from .cli import main

if __name__ == "__main__":
    main(prog_name="npusession")
