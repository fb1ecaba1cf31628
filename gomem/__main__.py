"""Run the `gomem` command as `python -m gomem`."""

import sys

if __name__ == "__main__":
    try:
        from gomem.cli.main import main
    except KeyboardInterrupt:  # during import
        sys.exit(130)
    main()
