package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"toolgym/tools"
)

// An Episode is one that a server plays: its task, whose it is, and the moves
// made so far.
type Episode struct {
	Number   uint64 // in the order of creation, from 1
	ID       string
	Task     string // the task's id
	Owner    string // name of the token it belongs to; empty without tokens
	MaxSteps int
	Created  time.Time
	Moves    []Move
}

// A Move is a step, and the request that asked for it.
type Move struct {
	tools.Step
	Request string // the request id; may be empty
	Made    time.Time
}

// Used is when the episode was begun or last gone on with.
func (e Episode) Used() time.Time {
	if n := len(e.Moves); n > 0 {
		return e.Moves[n-1].Made
	}
	return e.Created
}

// AddEpisode keeps a new episode, with the moves it has already. It is on disk
// when AddEpisode returns.
func (s *Store) AddEpisode(ctx context.Context, e Episode) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(`INSERT INTO episodes (number, id, task, owner, max_steps, created) VALUES (?, ?, ?, ?, ?, ?)`,
			int64(e.Number), e.ID, e.Task, e.Owner, e.MaxSteps, e.Created.UnixNano())
		if err != nil {
			return fmt.Errorf("keeping the episode %s: %w", e.ID, err)
		}
		for i, m := range e.Moves {
			if err := s.insertMove(tx, e.ID, i+1, m); err != nil {
				return err
			}
		}
		return nil
	})
}

// AddMove keeps the move that made the step of that number. It is on disk when
// AddMove returns. An episode that is not there any more is not_found.
func (s *Store) AddMove(ctx context.Context, id string, step int, m Move) error {
	return s.writeOne(ctx, func(tx *sql.Tx) error { return s.insertMove(tx, id, step, m) })
}

const insertMove = `
	INSERT INTO steps (episode, step, request, made, name, arguments, message, content, is_error, reward, ending)
	SELECT number, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM episodes WHERE id = ?`

func (s *Store) insertMove(tx *sql.Tx, id string, step int, m Move) error {
	row, err := tx.Stmt(s.move).Exec( //nolint:sqlclosecheck // it ends with the transaction
		step, m.Request, m.Made.UnixNano(), m.Call.Name, []byte(m.Call.Arguments), m.Message,
		[]byte(m.Result.Content), m.Result.IsError, m.Reward, ending(m.Step), id)
	if err != nil {
		return fmt.Errorf("keeping step %d of the episode %s: %w", step, id, err)
	}
	if n, err := row.RowsAffected(); err != nil || n != 1 {
		return noEpisode(id)
	}
	return nil
}

func ending(step tools.Step) string {
	switch {
	case step.Terminated:
		return "terminated"
	case step.Truncated:
		return "truncated"
	}
	return ""
}

func noEpisode(id string) error {
	return &tools.Error{Code: tools.NotFound, Where: "id", Message: fmt.Sprintf("there is no episode %.80q", id)}
}

// DeleteEpisode forgets an episode and its moves; not_found when there is none.
func (s *Store) DeleteEpisode(ctx context.Context, id string) error {
	return s.writeOne(ctx, func(tx *sql.Tx) error {
		row, err := tx.Exec(`DELETE FROM episodes WHERE id = ?`, id)
		if err != nil {
			return fmt.Errorf("deleting the episode %s: %w", id, err)
		}
		if n, err := row.RowsAffected(); err != nil || n != 1 {
			return noEpisode(id)
		}
		return nil
	})
}

// EndEpisodes notes that episodes were given up at the time: from then on
// [Store.Episodes] leaves them out, and RetireEpisodes may delete them.
func (s *Store) EndEpisodes(ctx context.Context, at time.Time, ids ...string) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		for _, id := range ids {
			if _, err := tx.Exec(`UPDATE episodes SET over = ? WHERE id = ? AND over IS NULL`, at.UnixNano(), id); err != nil {
				return fmt.Errorf("ending the episode %s: %w", id, err)
			}
		}
		return nil
	})
}

// Episodes lists the episodes that were not given up, with their moves, in the
// order of creation; and the number of the last that was ever made.
func (s *Store) Episodes(ctx context.Context) (live []Episode, last uint64, err error) {
	if live, err = s.episodes(ctx, `over IS NULL ORDER BY number`); err != nil {
		return nil, 0, err
	}
	var number sql.NullInt64
	if err := s.reader.QueryRowContext(ctx, `SELECT max(number) FROM episodes`).Scan(&number); err != nil {
		return nil, 0, s.reading("the episodes", err)
	}
	return live, uint64(number.Int64), nil
}

// Episode finds an episode with its moves, given up or not; not_found when
// there is none.
func (s *Store) Episode(ctx context.Context, id string) (Episode, error) {
	found, err := s.episodes(ctx, `id = ?`, id)
	if err != nil {
		return Episode{}, err
	}
	if len(found) == 0 {
		return Episode{}, noEpisode(id)
	}
	return found[0], nil
}

// EndedEpisodes lists up to limit episodes that were given up and are still
// kept, of one owner or, with "*", of all, in the order of creation, after the
// given number.
func (s *Store) EndedEpisodes(ctx context.Context, owner string, after uint64, limit int) ([]Episode, error) {
	return s.episodes(ctx, `over IS NOT NULL AND (?1 = '*' OR owner = ?1) AND number > ?2 ORDER BY number LIMIT ?3`, owner, int64(after), limit)
}

// episodes reads the episodes that a condition chooses, and then their moves.
// Both queries see the same state of the file.
func (s *Store) episodes(ctx context.Context, where string, args ...any) ([]Episode, error) {
	tx, err := s.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return nil, s.reading("the episodes", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing was written
	rows, err := tx.QueryContext(ctx, `SELECT number, id, task, owner, max_steps, created FROM episodes WHERE `+where, args...)
	if err != nil {
		return nil, s.reading("the episodes", err)
	}
	list, err := collect(rows, scanEpisode)
	if err != nil {
		return nil, s.reading("the episodes", err)
	}
	byNumber := make(map[uint64]*Episode, len(list))
	for i := range list {
		byNumber[list[i].Number] = &list[i]
	}
	rows, err = tx.QueryContext(ctx, `
		SELECT episode, request, made, name, arguments, message, content, is_error, reward, ending
		FROM steps WHERE episode IN (SELECT number FROM episodes WHERE `+where+`) ORDER BY episode, step`, args...)
	if err != nil {
		return nil, s.reading("the steps of episodes", err)
	}
	_, err = collect(rows, func(scan func(...any) error) (struct{}, error) {
		number, m, err := scanMove(scan)
		if e := byNumber[number]; e != nil {
			e.Moves = append(e.Moves, m)
		}
		return struct{}{}, err
	})
	if err != nil {
		return nil, s.reading("the steps of episodes", err)
	}
	return list, nil
}

func scanEpisode(scan func(...any) error) (e Episode, err error) {
	var number, created int64
	err = scan(&number, &e.ID, &e.Task, &e.Owner, &e.MaxSteps, &created)
	e.Number, e.Created = uint64(number), time.Unix(0, created).UTC()
	return e, err
}

func scanMove(scan func(...any) error) (episode uint64, m Move, err error) {
	var number, made int64
	var end string
	var arguments, content []byte
	err = scan(&number, &m.Request, &made, &m.Call.Name, &arguments, &m.Message, &content, &m.Result.IsError, &m.Reward, &end)
	m.Made = time.Unix(0, made).UTC()
	m.Call.Arguments, m.Result.Content = arguments, content
	m.Terminated, m.Truncated = end == "terminated", end == "truncated"
	return uint64(number), m, err
}
