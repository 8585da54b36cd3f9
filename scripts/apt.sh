# Sourced by the scripts that need system packages.

say() { echo "setup: $*" >&2; }

# Whether apt may be used: as root, or where sudo asks for no password.
as_root=()
may_install() {
  command -v apt-get >/dev/null 2>&1 || return 1
  [ "$(id -u)" = 0 ] && return 0
  if command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root=(sudo -n)
    return 0
  fi
  return 1
}

updated=
apt_install() {
  if ! may_install; then
    say "missing system packages: $*. Install them (apt-get install $*) and run this again."
    return 1
  fi
  say "installing $* with apt-get"
  if [ -z "$updated" ]; then
    "${as_root[@]}" apt-get update -qq >/dev/null
    updated=1
  fi
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}
