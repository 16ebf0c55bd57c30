-- Times are nanoseconds since 1970 in UTC, 0 where there is none: they sort, and
-- they come back as they were recorded.

-- +goose Up
CREATE TABLE runs (
    id          TEXT    NOT NULL PRIMARY KEY,
    framework   TEXT    NOT NULL,
    input       TEXT    NOT NULL,
    metadata    TEXT    NOT NULL CHECK (json_valid(metadata)),
    state       TEXT    NOT NULL CHECK (state IN ('open', 'finished')),
    output      TEXT    NOT NULL DEFAULT '',
    started_at  INTEGER NOT NULL,
    finished_at INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX runs_newest ON runs (started_at DESC, id DESC);

CREATE TABLE steps (
    id            TEXT    NOT NULL PRIMARY KEY,
    run_id        TEXT    NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    step_index    INTEGER NOT NULL,
    type          TEXT    NOT NULL CHECK (type IN ('tool_selected', 'tool_response', 'final_answer')),
    call_id       TEXT    NOT NULL,
    tool_name     TEXT    NOT NULL,
    server_name   TEXT    NOT NULL,
    upstream_tool TEXT    NOT NULL,
    tool_input    TEXT    NOT NULL,
    tool_output   TEXT    NOT NULL,
    tool_error    TEXT    NOT NULL,
    context       TEXT    NOT NULL,
    answer        TEXT    NOT NULL,
    status        TEXT    NOT NULL,
    started_at    INTEGER NOT NULL,
    duration_ms   REAL    NOT NULL
) STRICT;

CREATE INDEX steps_of_run ON steps (run_id, step_index, id);

-- The body is the scenario's own JSON; the columns are what rows are found by.
CREATE TABLE scenarios (
    id             TEXT    NOT NULL PRIMARY KEY,
    run_id         TEXT    NOT NULL UNIQUE REFERENCES runs (id) ON DELETE CASCADE,
    chain_revision INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    body           TEXT    NOT NULL CHECK (json_valid(body))
) STRICT;

-- Two edits cannot lead to the same revision: the last guard against a lost update.
CREATE TABLE edits (
    id             TEXT    NOT NULL PRIMARY KEY,
    scenario_id    TEXT    NOT NULL REFERENCES scenarios (id) ON DELETE CASCADE,
    revision_after INTEGER NOT NULL,
    body           TEXT    NOT NULL CHECK (json_valid(body)),
    UNIQUE (scenario_id, revision_after)
) STRICT;

-- +goose Down
DROP TABLE edits;
DROP TABLE scenarios;
DROP TABLE steps;
DROP TABLE runs;
