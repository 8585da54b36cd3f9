"""``python -m schemaxis_server``: the server program."""

from schemaxis_server.app.main import main

raise SystemExit(main())
