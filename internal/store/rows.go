package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
)

// stamp writes a time so that the text sorts as the time does.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000000000Z") }

// collect reads all rows.
func collect[T any](rows *sql.Rows, read func(scan func(...any) error) (T, error)) ([]T, error) {
	defer func() { _ = rows.Close() }()
	list := []T{}
	for rows.Next() {
		item, err := read(rows.Scan)
		if err != nil {
			return nil, err
		}
		list = append(list, item)
	}
	return list, rows.Err()
}

// reading wraps an error of a query.
func (s *Store) reading(what string, err error) error {
	return s.explain(fmt.Errorf("reading %s: %w", what, err))
}

// text is a JSON column's value; nothing is null.
func text(document json.RawMessage) string {
	if len(document) == 0 {
		return "null"
	}
	return string(document)
}
