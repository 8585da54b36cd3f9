"""Every refusal that a client can provoke by itself, once each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from schemaxis.qualify.bridge import Refused
from schemaxis.qualify.engines import Engines, NotRun
from schemaxis.qualify.work import Job, Task, Unmet, Work

_LINE_LIMIT = 1024 * 1024
_MANY_SAMPLES = 60_000
_NO_TIME = 0.001


@dataclass
class Refusal:
    """What was tried, the code that it must be answered with, and the answer."""

    tried: str
    expected: str
    code: str = ""
    message: str = ""
    outcome: str = "failed"


Probe = tuple[str, str, Callable[[], Any]]


class Provoking:
    """The probes, over the material that they need: a task with a verified job, and one whose job failed."""

    def __init__(self, work: Work, engines: Engines) -> None:
        self._work = work
        self._bridge = work.bridge
        self._engines = engines
        self._entry = engines.needed("numerics")
        self._task = self._new_task()
        self._large: list[Job] = []
        self._failed: list[Job] = []
        self._job = work.perform("material for refusals", self._task, self._line(3)).succeeded()

    def _new_task(self, **budget: Any) -> Task:
        return self._work.task("Refusals", [self._entry["provider"]], budget=budget)

    def _line(self, count: int) -> Any:
        grid = {"start": 0, "stop": 1, "count": count}
        return self._document({"id": "grid", "filter": "linspace", "options": grid})

    def _document(self, *nodes: Any) -> Any:
        return {
            "version": self._entry["documentVersion"],
            "nodes": list(nodes),
            "output": nodes[-1]["id"],
        }

    def provoke(self) -> list[dict[str, Any]]:
        """Every probe with its answer."""
        return [asdict(self._answered(*probe)) for probe in self._probes()]

    def _answered(self, tried: str, expected: str, probe: Callable[[], Any]) -> Refusal:
        refusal = Refusal(tried, expected)
        try:
            probe()
            refusal.message = "it was not refused"
        except Refused as fault:
            refusal.code, refusal.message = fault.code, fault.message
            if fault.code == expected and fault.message:
                refusal.outcome = "passed"
        except NotRun as reason:
            refusal.message, refusal.outcome = str(reason), "not run"
        except (Unmet, LookupError) as error:
            refusal.message = f"it could not be tried: {error}"
        return refusal

    def _probes(self) -> Iterator[Probe]:
        yield from self._of_requests()
        yield from self._of_plans()
        yield from self._of_budgets()
        yield from self._of_evidence()

    def _of_requests(self) -> Iterator[Probe]:
        call, send = self._bridge.call, self._bridge.send_raw
        yield "a method that does not exist", "UNKNOWN_METHOD", lambda: call("no_such_method")
        yield "a task without an objective", "INVALID_REQUEST", lambda: call("create_task")
        yield "a parameter that does not exist", "INVALID_REQUEST", lambda: call("workspace", colour="red")
        yield "a line that is not JSON", "INVALID_REQUEST", lambda: send("(no JSON)", b"{nonsense")
        long = b'{"id":1,"method":"' + b"x" * _LINE_LIMIT + b'"}'
        yield "a line of more than 1 MiB", "REQUEST_TOO_LARGE", lambda: send("(too long)", long)
        for kind, method in (("task", "task"), ("plan", "get_plan"), ("job", "job")):
            unknown = {f"{kind}_id": f"{kind}_none"}
            yield f"a {kind} that does not exist", "NOT_FOUND", partial(call, method, **unknown)
        yield (
            "a resource that does not exist",
            "NOT_FOUND",
            lambda: call("get_resource", resource_id="res_none"),
        )
        yield "a request_id for another request", "REQUEST_ID_REUSED", self._reuse_request_id

    def _reuse_request_id(self) -> None:
        for objective in ("One thing", "Another thing"):
            self._bridge.call(
                "create_task",
                objective=objective,
                allowed_providers=[self._entry["provider"]],
                request_id=f"qualify-{self._task.task_id}",
            )

    def _of_plans(self) -> Iterator[Probe]:
        yield "a plan for an older revision", "STALE_REVISION", self._stale_revision
        yield "the execution of an older plan", "STALE_PLAN", self._stale_plan
        yield "a document with an unknown operation", "INVALID_DOCUMENT", self._invalid_document
        yield "a provider that the task does not allow", "UNAUTHORISED_PROVIDER", self._unauthorised
        yield "a resource of a kind that the option does not take", "BINDING_MISMATCH", self._mismatch

    def _stale_revision(self) -> None:
        self._work.plan(Task(self._task.task_id, self._task.revision - 1), self._line(4))

    def _stale_plan(self) -> None:
        older = self._work.plan(self._task, self._line(5))
        newer = self._work.plan(self._task, self._line(6))
        self._work.execute({**older, "revision": newer["revision"]})

    def _invalid_document(self) -> None:
        self._work.plan(self._task, self._document({"id": "a", "filter": "no-such-filter", "options": {}}))

    def _unauthorised(self) -> None:
        other = self._engines.other_than(self._entry["provider"])
        version = other["documentVersion"]
        self._work.plan(self._task, {**self._line(3), "version": version})

    def _mismatch(self) -> None:
        options = {"file": None, "xColumn": "x", "yColumn": "y"}
        bound = {"/nodes/0/options/file": self._job.published("data/json")["resourceId"]}
        document = self._document({"id": "given", "filter": "readCSV", "options": options})
        self._work.plan(self._task, document, bound)

    def _of_budgets(self) -> Iterator[Probe]:
        yield "an execution after the last attempt", "BUDGET_EXHAUSTED", self._exhausted
        yield "an execution after the last second", "BUDGET_EXPIRED", self._expired
        yield "an attempt without time", "NATIVE_TIMEOUT", self._out_of_time
        yield "equations without a solution", "UNSUPPORTED_INPUT", self._unsolvable
        yield "the same failure again", "REPEATED_FAILURE", self._again
        yield "a fresh check of a job that failed", "NOT_VERIFIED", self._verify
        yield "a job that was cancelled", "CANCELLED", self._cancelled

    def _exhausted(self) -> None:
        task = self._new_task(max_attempts=1)
        self._work.perform("the only attempt", task, self._line(7)).succeeded()
        self._work.execute(self._work.plan(task, self._line(8)))

    def _expired(self) -> None:
        task = self._new_task(max_elapsed_seconds=_NO_TIME)
        self._work.perform("more than its time", task, self._line(9))
        self._work.execute(self._work.plan(task, self._line(10)))

    def _out_of_time(self) -> None:
        task = self._new_task(max_attempt_seconds=_NO_TIME)
        _fail_with(self._work.perform("an attempt without time", task, self._line(11)))

    def _unsolvable(self) -> None:
        equations = {"matrix": [[1, 1], [1, 1]], "rightHandSide": [1, 2]}
        document = self._document({"id": "u", "filter": "solveLinear", "options": equations})
        task = self._new_task(max_repeated_failures=1)
        self._failed.append(self._work.perform("equations without a solution", task, document))
        _fail_with(self._failed[0])

    def _again(self) -> None:
        self._work.execute(self._failed[0].plan)

    def _verify(self) -> None:
        self._bridge.call("verify", job_id=self._failed[0].status["jobId"])

    def _cancelled(self) -> None:
        # The second job waits behind the first, which takes a while for its many samples.
        first = self._work.plan(self._new_task(), self._line(_MANY_SAMPLES))
        second = self._work.plan(self._new_task(), self._line(12))
        ahead, behind = self._work.execute(first), self._work.execute(second)
        self._bridge.call("cancel", job_id=behind)
        self._large.append(self._work.finished("many samples", first, ahead))
        _fail_with(self._work.finished("cancelled in the queue", second, behind))

    def _of_evidence(self) -> Iterator[Probe]:
        job_id = self._job.status["jobId"]
        series = self._job.published("series/csv")
        call = self._bridge.call
        yield (
            "a range beyond the end",
            "OUT_OF_RANGE",
            lambda: call("resource", resource_id=series["resourceId"], offset=series["sizeBytes"] + 1),
        )
        yield (
            "evidence at another revision",
            "EVIDENCE_CHANGED",
            lambda: call("observe", job_id=job_id, section="result", revision="0" * 64),
        )
        yield "a text larger than the look", "OBSERVATION_LIMIT", self._too_large
        yield "a look into a picture or a solid", "UNSUPPORTED_INSPECTION", self._unsupported
        yield "a look into more than 1 MiB", "INSPECTION_LIMIT", self._too_many_bytes

    def _too_large(self) -> None:
        expression = {"expression": "x" + " " * 1990 + "+ 1"}
        grid = self._line(3)["nodes"][0]
        long = {"id": "long", "filter": "expression", "options": expression, "inputs": ["grid"]}
        plan = self._work.plan(self._task, self._document(grid, long))
        self._bridge.call(
            "observe",
            plan_id=plan["planId"],
            section="document",
            pointer="/nodes/1/options/expression",
            max_bytes=2048,
        )

    def _too_many_bytes(self) -> None:
        large = self._large[0].published("series/csv")
        self._bridge.call("inspect_resource", resource_id=large["resourceId"])

    def _unsupported(self) -> None:
        for resource in self._work.resources:
            if not resource["mediaType"].startswith(("text/csv", "application/json")):
                self._bridge.call("inspect_resource", resource_id=resource["resourceId"])
        raise Unmet("every resource can be inspected")


def _fail_with(job: Job) -> None:
    """A job's fault is no refusal of a request; here it counts as the answer to what was asked for."""
    if "fault" in job.status:
        raise Refused(job.status["fault"])


def provoke(work: Work, engines: Engines) -> list[dict[str, Any]]:
    """Every refusal with its answer. Raises :class:`NotRun` without a numerics provider."""
    return Provoking(work, engines).provoke()
