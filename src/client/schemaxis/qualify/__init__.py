"""Qualification: what an installation can do, seen through the bridge as an agent sees it."""
