-- +goose Up
CREATE TABLE runs (
  id      INTEGER PRIMARY KEY,
  name    TEXT NOT NULL UNIQUE,
  created TEXT NOT NULL,          -- RFC 3339
  model   TEXT NOT NULL,
  digest  TEXT NOT NULL,
  plan    TEXT NOT NULL           -- JSON of eval.Run without its tasks
) STRICT;

CREATE TABLE tasks (
  id       INTEGER PRIMARY KEY,
  name     TEXT NOT NULL,
  hash     TEXT NOT NULL,
  document TEXT NOT NULL,         -- JSON: prompt, tools, what is expected
  UNIQUE (name, hash)
) STRICT;

CREATE TABLE run_tasks (
  run      INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  position INTEGER NOT NULL,
  task     INTEGER NOT NULL REFERENCES tasks,
  PRIMARY KEY (run, position),
  UNIQUE (run, task)
) STRICT, WITHOUT ROWID;

CREATE TABLE trials (
  id             INTEGER PRIMARY KEY,
  run            INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  task           INTEGER NOT NULL REFERENCES tasks,
  route          TEXT NOT NULL,
  digest         TEXT NOT NULL,
  trial          INTEGER NOT NULL,
  seed           INTEGER NOT NULL,
  options        TEXT NOT NULL,   -- JSON
  server         TEXT NOT NULL,
  version        TEXT NOT NULL,
  template       TEXT NOT NULL,   -- hash
  started        TEXT NOT NULL,   -- RFC 3339
  duration_ns    INTEGER NOT NULL,
  prompt_tokens  INTEGER NOT NULL,
  output_tokens  INTEGER NOT NULL,
  finish_reason  TEXT NOT NULL,
  failure_kind   TEXT,            -- NULL: the trial was scored
  failure_reason TEXT,
  transcript     TEXT NOT NULL    -- JSON: messages, replies as they came, trajectory
) STRICT;

-- Of one trial there may be any number of rows that infrastructure failed, and
-- at most one other: it is asked exactly once.
CREATE UNIQUE INDEX trials_once ON trials (run, task, route, digest, trial)
  WHERE failure_kind IS NOT 'infrastructure';
CREATE INDEX trials_by_run ON trials (run, task, trial);

CREATE TABLE verdicts (
  id       INTEGER PRIMARY KEY,
  trial    INTEGER NOT NULL REFERENCES trials ON DELETE CASCADE,
  success  INTEGER NOT NULL,
  reward   REAL,                  -- NULL with a failure
  tier     TEXT NOT NULL,
  document TEXT NOT NULL          -- JSON of eval.Trial
) STRICT;
CREATE INDEX verdicts_by_trial ON verdicts (trial);

-- +goose StatementBegin
CREATE TRIGGER trials_append_only BEFORE UPDATE ON trials
BEGIN SELECT RAISE(ABORT, 'trials are append-only'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER verdicts_append_only BEFORE UPDATE ON verdicts
BEGIN SELECT RAISE(ABORT, 'verdicts are append-only'); END;
-- +goose StatementEnd
