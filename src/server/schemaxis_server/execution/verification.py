"""Verification: an independent check of what was published, and what it cannot say.

The provider's verifier runs as a supervised host of its own. Beside it the service checks
that the stored bytes are the ones that were hashed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from schemaxis_server.execution.hosts import Deadline, Hosts
from schemaxis_server.execution.records import Check, Resource, Verification, now
from schemaxis_server.execution.resources import receipt_of
from schemaxis_server.faults import Fault
from schemaxis_server.native.contract import HostProgram, Listener
from schemaxis_server.store.damage import ObjectCorrupt
from schemaxis_server.store.objects import ObjectStore

RECEIPTS_CHECK = "receipts"
MAX_CHECKS = 1000
_MAX_NAME_SHOWN = 100

_RECEIPTS_SCOPE = "The stored bytes of every publication are those that were hashed when it was taken in."
_RECEIPTS_ENGINE = "SHA-256 and BLAKE3"


class _Reported(msgspec.Struct, frozen=True, rename="camel"):
    """The shape of a verifier's result."""

    checks: tuple[Check, ...]
    not_covered: tuple[str, ...] = ()
    pictures: list[Any] = []
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Subject:
    """What is verified, and by which program: a resolved document, the result's outputs and the published files."""

    program: HostProgram
    document: Any
    outputs: Any
    bindings: dict[str, str]
    resources: tuple[Resource, ...]


@dataclass(frozen=True, slots=True)
class Verified:
    """A verification with the pictures that the verifier drew from what it had checked."""

    verification: Verification
    pictures: list[Any]
    warnings: tuple[str, ...]


class Verifier:
    """Runs verifications."""

    def __init__(self, hosts: Hosts, objects: ObjectStore) -> None:
        self._hosts = hosts
        self._objects = objects

    async def verify(
        self,
        subject: Subject,
        directory: Path,
        deadline: Deadline,
        listener: Listener,
        cancel: asyncio.Event,
        *,
        pictures: bool,
    ) -> Verified:
        """Check the subject afresh in ``directory``.

        A failed check is in the answer. Raises what :meth:`Hosts.run` raises when the
        verifier itself cannot run: that is neither a pass nor a failed check.
        """
        damage = await self.check_receipts(subject.resources)
        if not damage.passed:
            return Verified(_sum((damage,), ("Nothing else was checked, since the bytes changed.",)), [], ())
        request = {
            "document": subject.document,
            "outputs": subject.outputs,
            "bindings": subject.bindings,
            "pictures": pictures,
            "publications": [
                {
                    "name": resource.name,
                    "path": str(self._objects.path(receipt_of(resource))),
                    "kind": resource.kind,
                    "mediaType": resource.media_type,
                    "operation": resource.output,
                    "units": resource.units,
                }
                for resource in subject.resources
                if resource.derived_from is None
            ],
        }
        program = subject.program
        run = await self._hosts.run(program, directory, request, deadline, listener, cancel)
        try:
            reported = msgspec.json.decode(run.text, type=_Reported)
        except msgspec.ValidationError as error:
            raise Fault(
                "NATIVE_FAILURE", f"{program.name} wrote no verification of the contract's shape ({error})."
            ) from None
        if not reported.checks or len(reported.checks) > MAX_CHECKS:
            raise Fault(
                "NATIVE_FAILURE",
                f"{program.name} made {len(reported.checks)} checks; 1 to {MAX_CHECKS} are due.",
            )
        verification = _sum((damage, *reported.checks), reported.not_covered)
        return Verified(verification, reported.pictures, reported.warnings)

    async def check_receipts(self, resources: Sequence[Resource]) -> Check:
        """Read every resource whole and compare it with its receipt."""
        outcomes = await asyncio.gather(
            *(self._objects.verify(receipt_of(resource)) for resource in resources), return_exceptions=True
        )
        damaged = []
        for resource, outcome in zip(resources, outcomes, strict=True):
            if isinstance(outcome, ObjectCorrupt):
                damaged.append(f"{resource.name}: {outcome.why}")
            elif isinstance(outcome, BaseException):
                raise outcome
        return Check(
            name=RECEIPTS_CHECK,
            scope=_RECEIPTS_SCOPE,
            engine=_RECEIPTS_ENGINE,
            passed=not damaged,
            expected="every digest matches",
            observed="; ".join(damaged) if damaged else "every digest matches",
        )


def failure_of(verification: Verification) -> Fault:
    """The fault of a verification that did not pass."""
    failed = [check.name[:_MAX_NAME_SHOWN] for check in verification.checks if not check.passed]
    shown = ", ".join(failed[:5]) + (" …" if len(failed) > 5 else "")
    return Fault(
        "VERIFICATION_FAILED",
        f"{len(failed)} of {len(verification.checks)} checks did not confirm what was published ({shown}); "
        "observe `verification`, and do not use the numbers of this job.",
        failed=failed[:20],
    )


def _sum(checks: tuple[Check, ...], not_covered: tuple[str, ...]) -> Verification:
    return Verification(
        verified=all(check.passed for check in checks), checks=checks, not_covered=not_covered, time=now()
    )
