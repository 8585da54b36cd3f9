#!/usr/bin/env bash
# Install the applications that the providers drive: FreeCAD, GNU Octave and LibreOffice Calc, by apt.
# Where apt may not be used it says what is missing; with --try it then succeeds all the same.
set -euo pipefail
cd -P "$(dirname "$0")/.."
. scripts/apt.sh

missing=()
[ -e /usr/lib/freecad-python3/lib/FreeCAD.so ] || missing+=(freecad-python3)
command -v octave-cli >/dev/null 2>&1 || missing+=(octave)
[ -x /usr/lib/libreoffice/program/soffice.bin ] || missing+=(libreoffice-calc)
/usr/bin/python3 -c 'import uno' 2>/dev/null || missing+=(python3-uno)

[ ${#missing[@]} = 0 ] && exit 0
apt_install "${missing[@]}" || [ "${1:-}" = --try ]
