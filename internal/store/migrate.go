package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"

	"toolgym/tools"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate applies the migrations that are missing. Two processes may open a
// new file at once: the one that loses finds the work done when it looks again.
func migrate(ctx context.Context, db *sql.DB) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return fmt.Errorf("finding the migrations: %w", err)
	}
	const tries = 3
	for range tries {
		if err = upgrade(ctx, db, files); err == nil {
			return nil
		}
	}
	return err
}

func upgrade(ctx context.Context, db *sql.DB, files fs.FS) error {
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files)
	if err != nil {
		return fmt.Errorf("reading the migrations: %w", err)
	}
	current, target, err := provider.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("reading the schema's version: %w", err)
	}
	if current > target {
		return &tools.Error{Code: tools.Conflict, Message: fmt.Sprintf("the schema has version %d, this program knows up to %d", current, target),
			Want: "the program that wrote it, or a newer one"}
	}
	if current == target {
		return nil
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("bringing the schema to version %d: %w", target, err)
	}
	return nil
}
