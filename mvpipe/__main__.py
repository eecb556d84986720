"""`python -m mvpipe`."""

from mvpipe.cli import main

main()
