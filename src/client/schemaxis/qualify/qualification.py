"""The steps of a qualification, one after the other, and the report that comes of them."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from schemaxis.qualify.bridge import Bridge, BridgeBroken, Refused, Traffic
from schemaxis.qualify.engines import Engines, NotRun
from schemaxis.qualify.handover import hand_over
from schemaxis.qualify.parts import VARIANTS, Variant, refine, reuse
from schemaxis.qualify.refusals import provoke
from schemaxis.qualify.work import Job, Unmet, Work, require


@dataclass
class Step:
    """A step with its outcome: passed, failed, or not run; ``why`` says more of the last two."""

    name: str
    outcome: str = "passed"
    why: str = ""
    facts: Any = None


@dataclass
class _Qualification:
    work: Work
    say: Callable[[str], None]
    engines: Engines
    steps: list[Step] = field(default_factory=list)
    refusals: list[Any] = field(default_factory=list)
    declared: dict[str, list[str]] = field(default_factory=dict)
    _made: Job | None = None

    def take(self, name: str, action: Callable[[], Any]) -> None:
        """One step; whatever is wrong with it, the next ones are taken all the same."""
        step = Step(name)
        try:
            step.facts = action()
        except NotRun as reason:
            step.outcome, step.why = "not run", str(reason)
        except (Unmet, Refused) as error:
            step.outcome, step.why = "failed", str(error)
        except (LookupError, TypeError, ValueError) as error:
            # An answer that lacks what its description promises.
            step.outcome, step.why = "failed", f"an answer has another shape: {type(error).__name__} {error}"
        finally:
            self.steps.append(step)
        self.say(f"{step.outcome:8} {name}" + (f": {step.why}" if step.why else ""))

    def all_steps(self) -> None:
        """Every step in turn. Raises :class:`BridgeBroken`."""
        self.take("discover what there is", self._discover)
        for variant in VARIANTS:
            self.take(f"refine the {variant.name} plate to its volume", partial(self._refine, variant))
        self.take("reuse a publication in a second task", self._reuse)
        self.take("hand a signal over and find its tones", lambda: hand_over(self.work, self.engines))
        self.take("provoke the refusals", self._refusals)

    def _discover(self) -> Any:
        call = self.work.bridge.call
        methods = call("methods")
        for method in methods["methods"]:
            for code in method.get("faults", ()):
                self.declared.setdefault(code, []).append(method["name"])
        for code in methods["faultsOfAnyMethod"]:
            self.declared[code] = ["any"]
        family, entry = self.engines.any_needed()
        level = call("capabilities.browse", scope=f"domain/{family}")
        require(bool(level["scopes"]), f"there is nothing in domain/{family}")
        query = {"geometry": "round hole", "numerics": "frequency", "spreadsheet": "computed column"}[family]
        matches = call("capabilities.search", query=query, scope=f"domain/{family}", limit=10)["matches"]
        found = [match["capability"]["capability"] for match in matches]
        own = [name for name in found if name.startswith(f"{entry['provider']}.")]
        require(bool(own), f"nothing of {entry['provider']} is found for {query!r}, but {found}")
        described = call("capabilities.describe", capability=own[0])
        require(described["example"]["version"] != "", f"{own[0]} has no example")
        call("capabilities.schema", capability=own[0])
        return {"methods": len(methods["methods"]), "provider": entry["provider"], "found": own}

    def _refine(self, variant: Variant) -> Any:
        job, tried = refine(self.work, self.engines, variant)
        saved = self.work.save_pictures(job)
        require(saved > 0, f"{job.status['jobId']} published no picture")
        self._made = self._made or job
        return {"target": variant.target, "attempts": tried}

    def _reuse(self) -> Any:
        if self._made is None:
            self.engines.needed("geometry")
            raise NotRun("there is no part to reuse")
        return reuse(self.work, self.engines, self._made)

    def _refusals(self) -> Any:
        self.refusals = provoke(self.work, self.engines)
        wrong = [one for one in self.refusals if one["outcome"] != "passed"]
        said = "; ".join(
            f"{one['tried']}: {one['code'] or 'nothing'} instead of {one['expected']} ({one['message']})"
            for one in wrong
        )
        if wrong and all(one["outcome"] == "not run" for one in wrong):
            raise NotRun(said)
        require(not wrong, said)
        return {"provoked": len(self.refusals)}


def qualify(
    workspace: Path, directory: Path, chosen: dict[str, str], say: Callable[[str], None]
) -> dict[str, Any]:
    """Take every step over a session of the bridge on ``workspace``; the report, as JSON holds it.

    Pictures and the bridge's log are kept in ``directory``, which must be there.
    """
    begin = datetime.now(UTC)
    bridge = Bridge(workspace, directory / "bridge.log")
    work = Work(bridge, directory)
    running = _Qualification(work, say, Engines(chosen, {}))
    about: Any = {}
    try:
        with bridge:
            about = bridge.call("workspace")
            running.engines = Engines.of(about, chosen)
            running.all_steps()
        outcome = "passed" if bridge.exit_code == 0 else "failed"
        ended = f"the bridge ended with status {bridge.exit_code}"
    except (BridgeBroken, Refused) as error:
        outcome, ended = "failed", str(error)
    running.steps.append(Step("end the session", outcome, "" if outcome == "passed" else ended))
    say(f"{outcome:8} end the session" + (f": {ended}" if outcome != "passed" else ""))
    took = (datetime.now(UTC) - begin).total_seconds()
    return {
        "qualified": all(step.outcome == "passed" for step in running.steps),
        "time": begin.isoformat(),
        "seconds": round(took, 3),
        "machine": f"{platform.system()} {platform.machine()}, Python {platform.python_version()}",
        "server": {name: about.get(name) for name in ("serverVersion", "protocol", "sandbox")},
        "providers": {
            family: running.engines.found.get(name, {"provider": name, "available": False})
            for family, name in chosen.items()
        },
        "steps": [asdict(step) for step in running.steps],
        "traffic": _traffic(bridge.traffic, work),
        "refusals": running.refusals,
        "notProvoked": _not_provoked(running),
        "jobs": work.jobs,
        "pictures": work.pictures,
    }


def _not_provoked(running: _Qualification) -> dict[str, list[str]]:
    """The refusals that methods declare and no step met: a client cannot bring them about by itself."""
    met = {one["code"] for one in running.refusals}
    return {code: methods for code, methods in sorted(running.declared.items()) if code not in met}


def _traffic(by_method: dict[str, Traffic], work: Work) -> dict[str, Any]:
    rows = dict(_rows(by_method))
    return {
        "requests": sum(row["requests"] for row in rows.values()),
        "responseBytes": sum(row["responseBytes"] for row in rows.values()),
        "rejections": sum(row["rejections"] for row in rows.values()),
        "attempts": work.attempts,
        "byMethod": rows,
    }


def _rows(by_method: dict[str, Traffic]) -> Iterator[tuple[str, Any]]:
    for method, seen in sorted(by_method.items()):
        yield (
            method,
            {
                "requests": len(seen.seconds),
                "responseBytes": seen.response_bytes,
                "rejections": seen.rejections,
                "medianSeconds": round(median(seen.seconds), 6) if seen.seconds else None,
                "greatestSeconds": round(max(seen.seconds), 6) if seen.seconds else None,
            },
        )
