-- No list selects by these; each change of a job's state wrote them.
DROP INDEX jobs_by_plan;
DROP INDEX jobs_by_state;
DROP INDEX evidence_by_job;
