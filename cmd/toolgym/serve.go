package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"toolgym/api"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

type serveCommand struct {
	Addr       string   `help:"Address to listen on; one that other machines reach needs --token-file." default:"127.0.0.1:8080"`
	TokenFile  string   `help:"Tokens that are let in, as toolgym token makes them." placeholder:"FILE"`
	TLSCert    string   `help:"Certificate, in PEM; the server then speaks TLS." name:"tls-cert" placeholder:"FILE"`
	TLSKey     string   `help:"Key of the certificate, in PEM." name:"tls-key" placeholder:"FILE"`
	Skills     string   `help:"Skill library to offer as tools, as toolgym skills learn writes it." placeholder:"FILE"`
	Rubric     string   `help:"Rubric that pays where a request brings none, YAML or JSON (default: the published lab's)." placeholder:"FILE"`
	AllowHost  []string `help:"Further Host name to answer to, such as a proxy's." placeholder:"HOST" sep:"none"`
	Ollama     []string `help:"Address of an Ollama server whose models may be evaluated." placeholder:"URL" sep:"none"`
	Checkpoint string   `help:"Trained policy that POST /v1/policy/act plays with; default those in the binary." placeholder:"FILE"`
}

// drain is how long running calls may take to finish after Ctrl-C.
const drain = 10 * time.Second

func (c serveCommand) Run(ctx context.Context, world *console) error {
	config, err := c.settings(world)
	if err != nil {
		return err
	}
	listener, err := listen(c.Addr)
	if err != nil {
		return err
	}
	server, err := api.New(config)
	if err != nil {
		return errors.Join(refusal.Relocate(err, ofServer), listener.Close())
	}
	if err := server.MayServe(listener.Addr()); err != nil { // before its address is told to anybody
		return errors.Join(refusal.Move("--addr", err), listener.Close(), server.Shutdown(ctx))
	}
	scheme := "http"
	if c.TLSCert != "" {
		scheme = "https"
	}
	address := scheme + "://" + listener.Addr().String()
	if err := world.printf("%s\n", address); err != nil {
		return errors.Join(err, listener.Close(), server.Shutdown(ctx))
	}
	world.log.Info("serving", "url", address, "docs", address+"/docs")
	return serveUntil(ctx, server, listener)
}

// settings is the configuration that the flags ask for.
func (c serveCommand) settings(world *console) (config api.Config, err error) {
	config = api.Config{Specs: world.specs, Logger: world.log, AllowHosts: c.AllowHost, CertFile: c.TLSCert, KeyFile: c.TLSKey, Version: version(), Traces: api.TracesWanted(), Checkpoint: c.Checkpoint, Ollama: c.Ollama}
	if config.Data, err = world.dataDir(); err != nil {
		return config, err
	}
	rubric, err := readRubric(c.Rubric)
	if err != nil {
		return config, err
	}
	config.Rubric = &rubric
	if config.Skills, err = learntSkills(c.Skills); err != nil || c.TokenFile == "" {
		return config, err
	}
	text, err := os.ReadFile(c.TokenFile)
	if err != nil {
		return config, refusal.New("--token-file", "a file that toolgym token has written", "%v", err)
	}
	if config.Tokens, err = api.ParseTokens(bytes.NewReader(text)); err != nil {
		return config, fmt.Errorf("%s: %w", c.TokenFile, err)
	}
	if len(config.Tokens) == 0 {
		return config, refusal.New(c.TokenFile, "at least one; toolgym token makes it", "there is no token in the file")
	}
	return config, nil
}

// ofServer is the flag behind a field of the server's configuration.
func ofServer(field string) string {
	flags := map[string]string{"CertFile": "--tls-cert", "KeyFile": "--tls-key", "Checkpoint": "--checkpoint", "Ollama": "--ollama"}
	if strings.HasPrefix(field, "AllowHosts[") {
		return "--allow-host"
	}
	return cmp.Or(flags[field], field)
}

// listen opens a TCP address. A port in use is something outside; an address
// that makes no sense is configuration.
func listen(address string) (net.Listener, error) {
	if _, err := net.ResolveTCPAddr("tcp", address); err != nil {
		return nil, refusal.New("--addr", "host:port, such as 127.0.0.1:8080", "%v", err)
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
		return errors.Join(err, server.Shutdown(context.WithoutCancel(ctx)))
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
