package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"toolgym/grpo/eval"
	"toolgym/tools"
)

// Keep adds a trial and its verdict to a run. It is on disk when Keep returns.
// A second record of a trial that needs no repetition is an [*tools.Error],
// code conflict, and changes nothing.
func (s *Store) Keep(ctx context.Context, record eval.Record) error {
	verdict, err := json.Marshal(record.Trial)
	if err != nil {
		return fmt.Errorf("encoding the verdict on %s: %w", record.Task, err)
	}
	return s.write(ctx, func(tx *sql.Tx) error {
		id, err := keepTrial(tx, record)
		if err != nil {
			return err
		}
		return keepVerdict(tx, id, record.Trial, verdict)
	})
}

func keepTrial(tx *sql.Tx, r eval.Record) (int64, error) {
	var kind, reason any
	if r.Failure != nil {
		kind, reason = r.Failure.Kind, r.Failure.Reason
	}
	row, err := tx.Exec(`
		INSERT INTO trials (run, task, route, digest, trial, seed, options, server, version, template, started,
		  duration_ns, prompt_tokens, output_tokens, finish_reason, failure_kind, failure_reason, transcript)
		SELECT runs.id, tasks.id, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
		FROM runs JOIN run_tasks ON run_tasks.run = runs.id JOIN tasks ON tasks.id = run_tasks.task
		WHERE runs.name = ? AND tasks.name = ?`,
		r.Route, r.Digest, r.Trial.Trial, r.Seed, text(r.Options), r.Server, r.Version, r.Template, stamp(r.Started),
		int64(r.Duration), r.PromptTokens, r.OutputTokens, r.FinishReason, kind, reason, text(r.Transcript),
		r.Run, r.Task)
	if isUnique(err) {
		return 0, &tools.Error{Code: tools.Conflict, Where: "trial", Message: fmt.Sprintf("trial %d of %s is in the run %s already", r.Trial.Trial, r.Task, r.Run), Want: "each trial once"}
	}
	if err != nil {
		return 0, fmt.Errorf("keeping a trial of %s: %w", r.Task, err)
	}
	if n, err := row.RowsAffected(); err != nil || n != 1 {
		return 0, &tools.Error{Code: tools.NotFound, Where: "trial", Message: fmt.Sprintf("the run %q has no task %q", r.Run, r.Task), Want: "a task of the run's plan"}
	}
	return row.LastInsertId()
}

func keepVerdict(tx *sql.Tx, trial int64, verdict eval.Trial, document []byte) error {
	_, err := tx.Exec(`INSERT INTO verdicts (trial, success, reward, tier, document) VALUES (?, ?, ?, ?, ?)`,
		trial, verdict.Success, verdict.Reward, verdict.Tier, string(document))
	if err != nil {
		return fmt.Errorf("keeping the verdict on %s: %w", verdict.Task, err)
	}
	return nil
}

// newest selects, of each trial of a run, the row that counts: the one that is
// not infrastructure's if there is one, otherwise the last; and its newest
// verdict. In the order of the plan.
const newest = `
	WITH ranked AS (
	  SELECT trials.*, row_number() OVER (
	    PARTITION BY task, route, digest, trial ORDER BY failure_kind IS 'infrastructure', id DESC) AS place
	  FROM trials WHERE run = (SELECT id FROM runs WHERE name = ?1))
	SELECT %s FROM ranked
	JOIN run_tasks ON run_tasks.run = ranked.run AND run_tasks.task = ranked.task
	JOIN tasks ON tasks.id = ranked.task
	JOIN verdicts ON verdicts.id = (SELECT max(id) FROM verdicts WHERE verdicts.trial = ranked.id)
	WHERE place = 1 %s ORDER BY run_tasks.position, route, ranked.trial`

// Trials lists what the trials of a run were judged to be, in the order of the
// plan. Of a trial that was repeated after a failure of the infrastructure the
// last repetition counts.
func (s *Store) Trials(ctx context.Context, run string) ([]eval.Trial, error) {
	return s.trials(ctx, run, func(t eval.Trial) eval.Trial { return t })
}

// Shortened is Trials in the form of [eval.Trial.Short], of which one at a time is
// in memory as a whole.
func (s *Store) Shortened(ctx context.Context, run string) ([]eval.Trial, error) {
	return s.trials(ctx, run, eval.Trial.Short)
}

func (s *Store) trials(ctx context.Context, run string, form func(eval.Trial) eval.Trial) ([]eval.Trial, error) {
	if _, err := s.plan(ctx, run); err != nil {
		return nil, err
	}
	rows, err := s.reader.QueryContext(ctx, fmt.Sprintf(newest, "verdicts.document", ""), run)
	if err != nil {
		return nil, s.reading("the trials of "+run, err)
	}
	list, err := collect(rows, func(scan func(...any) error) (t eval.Trial, err error) {
		var document string
		if err := scan(&document); err != nil {
			return t, err
		}
		err = json.Unmarshal([]byte(document), &t)
		return form(t), err
	})
	if err != nil {
		return nil, s.reading("the trials of "+run, err)
	}
	return list, nil
}

// recordColumns are what scanRecord reads.
const recordColumns = `verdicts.document, digest, seed, options, server, version, template, started, transcript`

func scanRecord(scan func(...any) error) (r eval.Record, err error) {
	var verdict, options, started, transcript string
	if err := scan(&verdict, &r.Digest, &r.Seed, &options, &r.Server, &r.Version, &r.Template, &started, &transcript); err != nil {
		return r, err
	}
	r.Options, r.Transcript = json.RawMessage(options), json.RawMessage(transcript)
	return r, errors.Join(json.Unmarshal([]byte(verdict), &r.Trial), r.Started.UnmarshalText([]byte(started)))
}

// Records lists whole trials of a run, in the order of the plan: those of one
// task, or with an empty task all.
func (s *Store) Records(ctx context.Context, run, task string) ([]eval.Record, error) {
	list := []eval.Record{}
	err := s.EachRecord(ctx, run, task, func(r eval.Record) error {
		list = append(list, r)
		return nil
	})
	return list, err
}

// EachRecord calls f with the records of Records, one after the other, none of
// which it keeps: a run may be larger than the memory. No connection is held while
// f runs. The error is f's, or that of the database; a trial that is deleted
// meanwhile is one.
func (s *Store) EachRecord(ctx context.Context, run, task string, f func(eval.Record) error) error {
	if _, err := s.plan(ctx, run); err != nil {
		return err
	}
	rows, err := s.reader.QueryContext(ctx, fmt.Sprintf(newest, "ranked.id, verdicts.id", "AND (?2 = '' OR tasks.name = ?2)"), run, task)
	if err != nil {
		return s.reading("the trials of "+run, err)
	}
	places, err := collect(rows, func(scan func(...any) error) (place [2]int64, err error) {
		err = scan(&place[0], &place[1])
		return place, err
	})
	if err != nil {
		return s.reading("the trials of "+run, err)
	}
	one, err := s.reader.PrepareContext(ctx, "SELECT "+recordColumns+" FROM trials JOIN verdicts ON verdicts.id = ?2 AND verdicts.trial = trials.id WHERE trials.id = ?1")
	if err != nil {
		return s.reading("the trials of "+run, err)
	}
	defer func() { _ = one.Close() }() // nothing was written by it
	for _, place := range places {
		r, err := scanRecord(one.QueryRowContext(ctx, place[0], place[1]).Scan)
		if err != nil {
			return s.reading("the trials of "+run, err)
		}
		if err := f(r); err != nil {
			return err
		}
	}
	return nil
}

// Judge adds verdicts to trials that were kept before: the newest of each
// counts from then on. All are added or none.
func (s *Store) Judge(ctx context.Context, records []eval.Record) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		for _, r := range records {
			document, err := json.Marshal(r.Trial)
			if err != nil {
				return fmt.Errorf("encoding the verdict on %s: %w", r.Task, err)
			}
			var id int64
			err = tx.QueryRow(`
				SELECT trials.id FROM trials JOIN runs ON runs.id = trials.run JOIN tasks ON tasks.id = trials.task
				WHERE runs.name = ? AND tasks.name = ? AND route = ? AND trials.digest = ? AND trial = ?
				ORDER BY failure_kind IS 'infrastructure', trials.id DESC LIMIT 1`,
				r.Run, r.Task, r.Route, r.Digest, r.Trial.Trial).Scan(&id)
			if errors.Is(err, sql.ErrNoRows) {
				return &tools.Error{Code: tools.NotFound, Where: "trial", Message: fmt.Sprintf("the run %q has no trial %d of %s", r.Run, r.Trial.Trial, r.Task), Want: "a trial that was kept"}
			}
			if err != nil {
				return fmt.Errorf("finding a trial of %s: %w", r.Task, err)
			}
			if err := keepVerdict(tx, id, r.Trial, document); err != nil {
				return err
			}
		}
		return nil
	})
}
