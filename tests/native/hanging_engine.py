"""An engine whose import never ends, and says so first."""

import os
import time

os.write(2, b"loading\n")
time.sleep(600)
