-- +goose Up
CREATE TABLE episodes (
  number    INTEGER PRIMARY KEY,  -- in the order of creation
  id        TEXT NOT NULL UNIQUE,
  task      TEXT NOT NULL,        -- the task's id
  owner     TEXT NOT NULL,        -- name of the token; empty without tokens
  max_steps INTEGER NOT NULL,
  created   INTEGER NOT NULL,     -- nanoseconds of 1970
  over      INTEGER               -- when it was given up, in the same; NULL while it is live
) STRICT;
CREATE INDEX episodes_over ON episodes (over) WHERE over IS NOT NULL;

-- A step is one row, written once: its key refuses a second of the number.
CREATE TABLE steps (
  episode   INTEGER NOT NULL REFERENCES episodes ON DELETE CASCADE,
  step      INTEGER NOT NULL,     -- from 1
  request   TEXT NOT NULL,        -- the request id; may be empty
  made      INTEGER NOT NULL,     -- nanoseconds of 1970
  name      TEXT NOT NULL,        -- of the tool; empty when the agent spoke
  arguments BLOB,                 -- as they were written; NULL without any
  message   TEXT NOT NULL,
  content   BLOB,                 -- of the result; NULL without one
  is_error  INTEGER NOT NULL,
  reward    REAL NOT NULL,
  ending    TEXT NOT NULL CHECK (ending IN ('', 'terminated', 'truncated')),
  PRIMARY KEY (episode, step)
) STRICT, WITHOUT ROWID;
