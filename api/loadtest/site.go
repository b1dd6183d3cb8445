package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A site is where a measurement is made: a folder, and a server of its own.
type site struct {
	folder, binary string
	log            *os.File
	server         *process
}

// settle makes a site and starts its server, of the plan's binary or of one that
// is built. Where it fails nothing is left behind.
func settle(ctx context.Context, p plan) (s *site, err error) {
	s = &site{binary: p.binary}
	if s.folder, err = os.MkdirTemp("", "loadtest-*"); err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	if s.log, err = os.Create(filepath.Join(s.folder, "log")); err != nil {
		return nil, errors.Join(fmt.Errorf("making a log: %w", err), os.RemoveAll(s.folder))
	}
	if s.binary == "" {
		s.binary, err = build(ctx, s.folder)
	}
	if err == nil {
		err = s.serve(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.leave())
	}
	return s, nil
}

// serve starts a server on the site's data.
func (s *site) serve(ctx context.Context) (err error) {
	s.server, err = start(ctx, s.log, s.binary, "serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(s.folder, "data"))
	return err
}

// leave ends the server and takes everything away.
func (s *site) leave() error {
	if s.server != nil {
		_ = s.server.kill() // it may be gone
	}
	return errors.Join(s.log.Close(), os.RemoveAll(s.folder))
}
