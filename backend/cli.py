"""The ``tandem`` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from backend import cli_models


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; gives the exit code."""
    parser = argparse.ArgumentParser(prog="tandem", description="Local chat with speculative decoding that pays.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    cli_models.add_parser(commands)
    args = parser.parse_args(argv)
    code: int = args.run(args)
    return code


if __name__ == "__main__":
    sys.exit(main())
