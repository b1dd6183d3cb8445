package store

import (
	"context"
	"fmt"
)

// Fill makes the file unable to grow, as on a full disk.
func (s *Store) Fill(ctx context.Context) error { return s.pragma(ctx, "max_page_count = 1") }

// Hurry makes writes give up at once on a file that another process holds.
func (s *Store) Hurry(ctx context.Context) error { return s.pragma(ctx, "busy_timeout = 1") }

func (s *Store) pragma(ctx context.Context, setting string) error {
	if _, err := s.writer.ExecContext(ctx, "PRAGMA "+setting); err != nil {
		return fmt.Errorf("setting %s: %w", setting, err)
	}
	return nil
}
