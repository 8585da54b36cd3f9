"""The few Linux calls that supervision needs and Python 3.11 does not offer.

Standard library only, since host processes import it. Calls raise ``OSError`` as ``os`` does.
"""

from __future__ import annotations

import ctypes
import os

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_CLONE_NEWNS = 0x0002_0000
_CLONE_NEWUSER = 0x1000_0000
_CLONE_NEWPID = 0x2000_0000
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC = 2, 4, 8
_MS_REC, _MS_SLAVE = 0x4000, 0x8_0000
_IOLBF = 1

_libc = ctypes.CDLL(None, use_errno=True)


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _prctl(option: int, argument: int) -> None:
    zero = ctypes.c_ulong(0)
    _check(_libc.prctl(option, ctypes.c_ulong(argument), zero, zero, zero))


def set_parent_death_signal(signal_number: int) -> None:
    """Receive ``signal_number`` when the thread that forked this process ends; 0 clears it.

    The kernel clears it on fork, and it is too late if the parent has ended already: the
    caller checks for that afterwards.
    """
    _prctl(_PR_SET_PDEATHSIG, signal_number)


def become_subreaper() -> None:
    """Adopt every orphan among this process's descendants."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def forbid_new_privileges() -> None:
    """Make set-user-id programs harmless here and below: they would escape our signals."""
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def enter_pid_namespace() -> bool:
    """Make the next fork the first process of a new PID namespace.

    Returns whether a user namespace was needed for it, which keeps the user's own id. Raises
    ``OSError`` where the kernel allows neither; the process may then be half way in, and ends.
    """
    try:
        _check(_libc.unshare(_CLONE_NEWPID))
    except PermissionError:
        user, group = os.getuid(), os.getgid()
        _check(_libc.unshare(_CLONE_NEWUSER | _CLONE_NEWPID))
        _write("/proc/self/setgroups", "deny")
        _write("/proc/self/uid_map", f"{user} {user} 1")
        _write("/proc/self/gid_map", f"{group} {group} 1")
        return True
    return False


def mount_own_proc() -> None:
    """Show the processes of this PID namespace, and no others, below /proc.

    Mounts that the machine makes later still arrive; nothing goes the other way.
    """
    _check(_libc.unshare(_CLONE_NEWNS))
    _check(_libc.mount(None, b"/", None, ctypes.c_ulong(_MS_REC | _MS_SLAVE), None))
    _check(_libc.mount(b"proc", b"/proc", b"proc", ctypes.c_ulong(_MS_NOSUID | _MS_NODEV | _MS_NOEXEC), None))


def buffer_native_output_by_line() -> None:
    """Let what C and C++ print appear line by line, as Python's own output does."""
    _libc.setvbuf(ctypes.c_void_p.in_dll(_libc, "stdout"), None, _IOLBF, ctypes.c_size_t(0))


def flush_native_output() -> None:
    """Write what C and C++ still hold in their output buffers."""
    _libc.fflush(None)


def _write(path: str, text: str) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(descriptor, text.encode("ascii"))
    finally:
        os.close(descriptor)
