-- +goose Up
-- One row, which is written to see whether the file can be.
CREATE TABLE probe (at INTEGER NOT NULL) STRICT;
INSERT INTO probe VALUES (0);
