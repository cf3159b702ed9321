"""`python -m forebay`: the same as the command `forebay`."""

from forebay.cli import main

main()
