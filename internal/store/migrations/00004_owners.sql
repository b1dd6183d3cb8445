-- +goose Up
-- Runs of the time before belong to nobody, as those of the command line do.
ALTER TABLE runs ADD COLUMN owner TEXT NOT NULL DEFAULT ''; -- name of the token; empty without tokens
