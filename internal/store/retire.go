package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// RetireEpisodes deletes up to limit episodes that were given up: those given
// up before the time and, while more than latest are kept, the oldest ones of
// the owner with the most. It returns how many were deleted.
func (s *Store) RetireEpisodes(ctx context.Context, before time.Time, latest, limit int) (int, error) {
	var deleted int
	err := s.write(ctx, func(tx *sql.Tx) (err error) {
		deleted, err = deleteEnded(tx, `over < ?`, before.UnixNano(), limit)
		for err == nil && deleted < limit {
			var owner string
			var excess, n int
			if owner, excess, err = mostEnded(tx, latest); err != nil || excess <= 0 {
				return err
			}
			n, err = deleteEnded(tx, `owner = ?`, owner, min(excess, limit-deleted))
			deleted += n
		}
		return err
	})
	return deleted, err
}

// deleteEnded deletes up to limit ended episodes that meet the condition, the
// oldest first.
func deleteEnded(tx *sql.Tx, condition string, value any, limit int) (int, error) {
	row, err := tx.Exec(`DELETE FROM episodes WHERE number IN (
		SELECT number FROM episodes WHERE over IS NOT NULL AND `+condition+` ORDER BY over, number LIMIT ?)`, value, limit)
	if err != nil {
		return 0, fmt.Errorf("deleting old episodes: %w", err)
	}
	n, err := row.RowsAffected()
	return int(n), err
}

// mostEnded finds the owner with the most ended episodes, and how many of them
// are to be deleted so that latest are kept in all, or the owner has as few as
// the owner with the second most. Excess is 0 when there are not too many.
func mostEnded(tx *sql.Tx, latest int) (owner string, excess int, err error) {
	rows, err := tx.Query(`SELECT owner, count(*), sum(count(*)) OVER (), count(*) OVER () FROM episodes
		WHERE over IS NOT NULL GROUP BY owner ORDER BY 2 DESC, 1 LIMIT 2`)
	if err != nil {
		return "", 0, fmt.Errorf("counting ended episodes: %w", err)
	}
	type count struct {
		owner               string
		kept, total, owners int
	}
	most, err := collect(rows, func(scan func(...any) error) (c count, err error) {
		return c, scan(&c.owner, &c.kept, &c.total, &c.owners)
	})
	if err != nil || len(most) == 0 || most[0].total <= latest {
		return "", 0, err
	}
	first := most[0]
	excess = first.total - latest
	if len(most) == 2 {
		excess = min(excess, max(first.kept-most[1].kept, (excess+first.owners-1)/first.owners))
	}
	return first.owner, excess, nil
}
