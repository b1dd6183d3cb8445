package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A site is where a measurement is made: a folder, and a server of its own.
type site struct {
	folder, binary string
	log            *os.File
	server         *process
	tokens         string // the token file; "" serves without tokens
}

// settle makes a site and starts its server, of the plan's binary or of one that
// is built. Where it fails nothing is left behind. The tokens are lines of a token
// file; without any, the server asks for none.
func settle(ctx context.Context, p plan, tokens ...string) (s *site, err error) {
	s = &site{binary: p.binary}
	if s.folder, err = os.MkdirTemp("", "loadtest-*"); err != nil {
		return nil, fmt.Errorf("making a folder: %w", err)
	}
	if s.log, err = os.Create(filepath.Join(s.folder, "log")); err != nil {
		return nil, errors.Join(fmt.Errorf("making a log: %w", err), os.RemoveAll(s.folder))
	}
	if len(tokens) > 0 {
		err = s.keep(tokens)
	}
	if s.binary == "" && err == nil {
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
	args := []string{"serve", "--addr", "127.0.0.1:0", "--data", filepath.Join(s.folder, "data")}
	if s.tokens != "" {
		args = append(args, "--token-file", s.tokens)
	}
	s.server, err = start(ctx, s.log, s.binary, args...)
	return err
}

// keep writes the token file.
func (s *site) keep(tokens []string) error {
	s.tokens = filepath.Join(s.folder, "tokens")
	if err := os.WriteFile(s.tokens, []byte(strings.Join(tokens, "\n")), 0o600); err != nil {
		return fmt.Errorf("writing tokens: %w", err)
	}
	return nil
}

// leave ends the server and takes everything away.
func (s *site) leave() error {
	if s.server != nil {
		_ = s.server.kill() // it may be gone
	}
	return errors.Join(s.log.Close(), os.RemoveAll(s.folder))
}
