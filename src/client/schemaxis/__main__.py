"""``python -m schemaxis`` is the command ``schemaxis``."""

import sys

from schemaxis.cli.main import main

sys.exit(main())
