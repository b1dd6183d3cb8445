-- +goose Up
-- How many ended episodes an owner has, and which are its oldest ones.
CREATE INDEX episodes_ended ON episodes (owner, over, number) WHERE over IS NOT NULL;
