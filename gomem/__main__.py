"""`python -m gomem` is the `gomem` script."""

from gomem.cli.main import main

if __name__ == "__main__":
    main()
