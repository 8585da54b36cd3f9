-- Every record table has the same core: position is the order of creation and the key that
-- lists page by, id names the record, body is what it says, checksum seals table, id and body.
-- The other columns are copies of what lists select by.

CREATE TABLE tasks (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    body BLOB NOT NULL,
    checksum BLOB NOT NULL
);

CREATE TABLE plans (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    task_id TEXT NOT NULL REFERENCES tasks (id),
    body BLOB NOT NULL,
    checksum BLOB NOT NULL
);
CREATE INDEX plans_by_task ON plans (task_id);

CREATE TABLE jobs (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    task_id TEXT NOT NULL REFERENCES tasks (id),
    plan_id TEXT NOT NULL REFERENCES plans (id),
    state TEXT NOT NULL,
    unfinished INTEGER NOT NULL CHECK (unfinished IN (0, 1)),
    body BLOB NOT NULL,
    checksum BLOB NOT NULL
);
CREATE INDEX jobs_by_task ON jobs (task_id);
CREATE INDEX jobs_by_plan ON jobs (plan_id);
CREATE INDEX jobs_by_state ON jobs (state);
-- The only thing that opening a workspace reads of its jobs.
CREATE INDEX jobs_unfinished ON jobs (unfinished) WHERE unfinished = 1;

CREATE TABLE resources (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    job_id TEXT REFERENCES jobs (id),
    state TEXT NOT NULL,
    body BLOB NOT NULL,
    checksum BLOB NOT NULL
);
CREATE INDEX resources_by_job ON resources (job_id);

-- The sections of a job's evidence, which may be large, apart from the job, which is small.
CREATE TABLE evidence (
    position INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    job_id TEXT NOT NULL REFERENCES jobs (id),
    body BLOB NOT NULL,
    checksum BLOB NOT NULL
);
CREATE INDEX evidence_by_job ON evidence (job_id);

-- What a request_id was used for: the digest of the request and the id of what it made.
CREATE TABLE requests (
    method TEXT NOT NULL,
    request_id TEXT NOT NULL,
    digest TEXT NOT NULL,
    thing_id TEXT NOT NULL,
    checksum BLOB NOT NULL,
    PRIMARY KEY (method, request_id)
) WITHOUT ROWID;

-- Totals, changed in the transaction that changes what they count.
CREATE TABLE counts (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) WITHOUT ROWID;

-- The last sequence of each stream and when it was written, in seconds since 1970.
CREATE TABLE streams (
    stream TEXT PRIMARY KEY,
    tail INTEGER NOT NULL,
    time REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE events (
    stream TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    data BLOB NOT NULL,
    checksum BLOB NOT NULL,
    PRIMARY KEY (stream, sequence)
) WITHOUT ROWID;

-- Damage that a read met. time is in seconds since 1970.
CREATE TABLE quarantine (
    table_name TEXT NOT NULL,
    id TEXT NOT NULL,
    reason TEXT NOT NULL,
    time REAL NOT NULL,
    PRIMARY KEY (table_name, id)
) WITHOUT ROWID;

CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;
