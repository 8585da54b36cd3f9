"""Preloaded: starts an engine that serves many jobs."""

from __future__ import annotations

import os
import subprocess

_ENGINE = subprocess.Popen(["sleep", os.environ["ENGINE_TOKEN"]])
PID = _ENGINE.pid
