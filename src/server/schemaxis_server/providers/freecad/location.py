"""Where a host is told that FreeCAD is. Standard library only: the daemon and hosts import it."""

LIBRARY_VARIABLE = "SCHEMAXIS_FREECAD_LIBRARY"
"""The environment variable that names the folder of FreeCAD's modules."""
