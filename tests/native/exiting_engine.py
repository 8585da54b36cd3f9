"""An engine that leaves the interpreter while it is imported, and says why on stderr only."""

import os

os.write(2, b"libEngine.so.7: cannot open shared object file\n")
os._exit(3)
