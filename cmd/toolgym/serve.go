package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"toolgym/api"
	"toolgym/tools"
)

type serveCommand struct {
	Addr      string   `help:"Address to listen on; only loopback addresses are served." default:"127.0.0.1:8080"`
	AllowHost []string `help:"Further Host name to answer to, such as a proxy's." placeholder:"HOST" sep:"none"`
}

// drain is how long running calls may take to finish after Ctrl-C.
const drain = 10 * time.Second

func (c serveCommand) Run(ctx context.Context, world *console) error {
	if world.data != "" {
		if _, err := world.dataDir(); err != nil {
			return err
		}
	}
	server, err := api.New(api.Config{Specs: world.specs, Logger: world.log, AllowHosts: c.AllowHost})
	if err != nil {
		return err
	}
	listener, err := listen(c.Addr)
	if err != nil {
		return err
	}
	address := "http://" + listener.Addr().String()
	if err := world.printf("%s\n", address); err != nil {
		return errors.Join(err, listener.Close())
	}
	world.log.Info("serving", "url", address, "docs", address+"/docs")
	return serveUntil(ctx, server, listener)
}

// listen opens a TCP address. A port in use is something outside; an address
// that makes no sense is configuration.
func listen(address string) (net.Listener, error) {
	if _, err := net.ResolveTCPAddr("tcp", address); err != nil {
		return nil, &tools.Error{Code: tools.Invalid, Where: "--addr", Message: err.Error(), Want: "host:port, such as 127.0.0.1:8080"}
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, &tools.Error{Code: tools.Unavailable, Where: "--addr", Message: err.Error(), Want: "a free port; port 0 picks one"}
	}
	return listener, nil
}

// serveUntil serves until the context ends, then lets running calls finish.
func serveUntil(ctx context.Context, server *api.Server, listener net.Listener) error {
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	deadline, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	shutdown := server.Shutdown(deadline)
	if err := <-ended; err != nil && !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving: %w", err)
	}
	if shutdown != nil {
		return fmt.Errorf("finishing running calls: %w", shutdown)
	}
	return nil
}
