#!/usr/bin/env bash
# Bring this checkout to where `make demo` and `make test` can run: a virtual environment in .venv
# with the project and its tools, and the system libraries that the engines and the tests need.
# Running it again does nothing until pyproject.toml changes.
set -euo pipefail
cd -P "$(dirname "$0")/.."

. scripts/apt.sh

has_library() {
  [ -n "$(find /usr/lib /lib /usr/local/lib -maxdepth 2 -name "$1*" -print -quit 2>/dev/null)" ]
}

pick_python() {
  for candidate in "${PYTHON:-}" python3 python3.13 python3.12 python3.11 /usr/bin/python3; do
    [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1 || continue
    if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
      command -v "$candidate"
      return 0
    fi
  done
  say "Python 3.11 or newer was not found. Install it and run this again."
  return 1
}

# An environment that was made here, and wholly.
usable() { head -n 2 .venv/bin/pip | grep -qF "$PWD/.venv/bin/python" && .venv/bin/python -m pip --version; }

missing=()
has_library libGL.so.1 || missing+=(libgl1)

# An environment does not survive a move of its directory, nor another list of packages.
stamp=.venv/.set-up
wanted="$(cksum < pyproject.toml) $PWD"
if [ ${#missing[@]} = 0 ] && [ -x .venv/bin/python ] && [ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ]; then
  exit 0
fi

python=$(pick_python)
if ! usable >/dev/null 2>&1 && ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  missing+=("python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv")
fi
[ ${#missing[@]} = 0 ] || apt_install "${missing[@]}"
# Only the tests of durability need it, and they say so.
command -v strace >/dev/null 2>&1 || apt_install strace || true

if ! usable >/dev/null 2>&1; then
  say "creating .venv with $("$python" --version)"
  "$python" -m venv --clear .venv
fi
say "installing the project and its tools into .venv (some minutes the first time)"
# pip warns of what it then mends itself, of retries for instance; what it says matters only when it fails.
said=.venv/.set-up.log
if ! .venv/bin/python -m pip install --disable-pip-version-check --no-input --use-pep517 \
  --editable '.[server,dev]' >"$said" 2>&1; then
  cat "$said" >&2
  say "pip could not install them; its words are above and in $said."
  exit 1
fi
echo "$wanted" > "$stamp"
