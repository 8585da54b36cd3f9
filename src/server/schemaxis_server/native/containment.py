"""How well hosts are contained on this machine, for whoever asks what a kill can promise."""

from __future__ import annotations

from dataclasses import dataclass

from schemaxis_server.native.contract import HostProgram
from schemaxis_server.native.host import Host, Ready, Settings

HARDENING = ("user-namespace", "parent-death-signal", "no-new-privileges", "own-proc")
"""Every hardening that a host may reach; a user namespace is needed only without root."""

_PROBE = HostProgram(name="containment-probe", entry="json:dumps")


@dataclass(frozen=True, slots=True)
class Containment:
    """``level`` is ``pid-namespace`` (the kernel ends a tree whole) or ``subreaper`` (its init does).

    ``hardening`` names what else was reached: ``user-namespace``, ``parent-death-signal``,
    ``no-new-privileges``, ``own-proc``.
    """

    level: str
    hardening: tuple[str, ...]

    @classmethod
    def of(cls, ready: Ready) -> Containment:
        return cls(ready.containment, ready.hardening)


async def probe(settings: Settings) -> Containment:
    """Find out by starting a host without an engine. Raises ``Fault("MISSING_RUNTIME")``."""
    host = await Host.start(_PROBE, (), settings)
    await host.close()
    assert host.ready is not None
    return Containment.of(host.ready)
