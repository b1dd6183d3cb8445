package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"toolgym/grpo/eval"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// Begin keeps a new run with its tasks. The owner is the token that it belongs
// to, empty for a run without one. A run of that name that is there already is
// an [*tools.Error], code conflict.
func (s *Store) Begin(ctx context.Context, run eval.Run, owner string) error {
	plan := run
	plan.Tasks = nil // they have a table of their own
	text, err := json.Marshal(plan)
	if err != nil {
		return fmt.Errorf("encoding the plan of %s: %w", run.Name, err)
	}
	return s.write(ctx, func(tx *sql.Tx) error {
		row, err := tx.Exec(`INSERT INTO runs (name, created, model, digest, plan, owner) VALUES (?, ?, ?, ?, ?, ?)`,
			run.Name, stamp(run.Created), run.Model, run.Digest, string(text), owner)
		if isUnique(err) {
			return &tools.Error{Code: tools.Conflict, Where: "run", Message: fmt.Sprintf("there is a run %q already", run.Name), Want: "another name, or --resume"}
		}
		if err != nil {
			return fmt.Errorf("keeping the run %s: %w", run.Name, err)
		}
		id, err := row.LastInsertId()
		if err != nil {
			return fmt.Errorf("keeping the run %s: %w", run.Name, err)
		}
		return keepTasks(tx, id, run.Tasks)
	})
}

func keepTasks(tx *sql.Tx, run int64, list []eval.RunTask) error {
	for i, t := range list {
		if _, err := tx.Exec(`INSERT INTO tasks (name, hash, document) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`, t.ID, t.Hash, string(t.Document)); err != nil {
			return fmt.Errorf("keeping the task %s: %w", t.ID, err)
		}
		_, err := tx.Exec(`INSERT INTO run_tasks (run, position, task) SELECT ?, ?, id FROM tasks WHERE name = ? AND hash = ?`, run, i, t.ID, t.Hash)
		if isUnique(err) {
			return refusal.New("tasks", "each task once", "the task %s stands twice in the run", t.ID)
		}
		if err != nil {
			return fmt.Errorf("listing the task %s: %w", t.ID, err)
		}
	}
	return nil
}

// Run finds a run by name, with its tasks in order.
func (s *Store) Run(ctx context.Context, name string) (eval.Run, error) {
	run, err := s.plan(ctx, name)
	if err != nil {
		return eval.Run{}, err
	}
	rows, err := s.reader.QueryContext(ctx, `
		SELECT tasks.name, tasks.hash, tasks.document FROM runs
		JOIN run_tasks ON run_tasks.run = runs.id JOIN tasks ON tasks.id = run_tasks.task
		WHERE runs.name = ? ORDER BY run_tasks.position`, name)
	if err != nil {
		return eval.Run{}, s.reading("the tasks of "+name, err)
	}
	run.Tasks, err = collect(rows, func(scan func(...any) error) (t eval.RunTask, err error) {
		var document string
		err = scan(&t.ID, &t.Hash, &document)
		t.Document = json.RawMessage(document)
		return t, err
	})
	if err != nil {
		return eval.Run{}, s.reading("the tasks of "+name, err)
	}
	return run, nil
}

func (s *Store) plan(ctx context.Context, name string) (eval.Run, error) {
	var text string
	err := s.reader.QueryRowContext(ctx, `SELECT plan FROM runs WHERE name = ?`, name).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return eval.Run{}, s.unknown(ctx, name)
	}
	if err != nil {
		return eval.Run{}, s.reading("the run "+name, err)
	}
	var run eval.Run
	if err := json.Unmarshal([]byte(text), &run); err != nil {
		return eval.Run{}, fmt.Errorf("decoding the plan of %s: %w", name, err)
	}
	return run, nil
}

// Owner is whom a run belongs to, empty for a run without one.
func (s *Store) Owner(ctx context.Context, name string) (string, error) {
	var owner string
	err := s.reader.QueryRowContext(ctx, `SELECT owner FROM runs WHERE name = ?`, name).Scan(&owner)
	if errors.Is(err, sql.ErrNoRows) {
		return "", s.unknown(ctx, name)
	}
	if err != nil {
		return "", s.reading("the run "+name, err)
	}
	return owner, nil
}

// unknown is the error for a run that is not there; it says which are.
func (s *Store) unknown(ctx context.Context, name string) error {
	refused := &tools.Error{Code: tools.NotFound, Where: "run", Message: fmt.Sprintf("there is no run %q in %s", name, s.path), Want: "a name that toolgym runs lists"}
	var latest string
	if s.reader.QueryRowContext(ctx, `SELECT name FROM runs ORDER BY id DESC LIMIT 1`).Scan(&latest) == nil {
		refused.Want += fmt.Sprintf(", such as %q", latest)
	}
	return refused
}

// A Listing is a run at a glance.
type Listing struct {
	eval.Run
	Planned int `json:"planned"` // trials of the plan
	Kept    int `json:"kept"`    // trials that will not be asked again
	Failed  int `json:"failed"`  // trials so far that only the infrastructure failed

	Owner string `json:"owner,omitempty"` // the token that it belongs to
}

// Runs lists the runs, the newest first, without their tasks.
func (s *Store) Runs(ctx context.Context) ([]Listing, error) {
	rows, err := s.reader.QueryContext(ctx, `
		SELECT plan, owner,
		  (SELECT count(*) FROM run_tasks WHERE run = runs.id),
		  (SELECT count(*) FROM trials WHERE run = runs.id AND failure_kind IS NOT 'infrastructure'),
		  (SELECT count(DISTINCT task || ' ' || route || ' ' || trial) FROM trials WHERE run = runs.id)
		FROM runs ORDER BY id DESC`)
	if err != nil {
		return nil, s.reading("the runs", err)
	}
	list, err := collect(rows, func(scan func(...any) error) (l Listing, err error) {
		var text string
		var listed, tried int
		if err := scan(&text, &l.Owner, &listed, &l.Kept, &tried); err != nil {
			return l, err
		}
		err = json.Unmarshal([]byte(text), &l.Run)
		l.Planned, l.Failed = listed*l.Trials*len(l.Routes), tried-l.Kept
		return l, err
	})
	if err != nil {
		return nil, s.reading("the runs", err)
	}
	return list, nil
}

// Delete removes a run with its trials and verdicts, and the tasks that no
// other run has.
func (s *Store) Delete(ctx context.Context, name string) error {
	if _, err := s.plan(ctx, name); err != nil {
		return err
	}
	return s.write(ctx, func(tx *sql.Tx) error {
		if _, err := tx.Exec(`DELETE FROM runs WHERE name = ?`, name); err != nil {
			return fmt.Errorf("deleting the run %s: %w", name, err)
		}
		if _, err := tx.Exec(`DELETE FROM tasks WHERE id NOT IN (SELECT task FROM run_tasks)`); err != nil {
			return fmt.Errorf("deleting tasks without a run: %w", err)
		}
		return nil
	})
}
