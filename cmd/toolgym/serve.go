package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"toolgym/api"
	"toolgym/internal/goroutine"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

type serveCommand struct {
	Addr           string   `help:"Address to listen on; one that other machines reach needs --token-file." default:"127.0.0.1:8080"`
	TokenFile      string   `help:"Tokens that are let in, as toolgym token makes them." placeholder:"FILE"`
	TLSCert        string   `help:"Certificate, in PEM; the server then speaks TLS." name:"tls-cert" placeholder:"FILE"`
	TLSKey         string   `help:"Key of the certificate, in PEM." name:"tls-key" placeholder:"FILE"`
	Skills         string   `help:"Skill library to offer as tools, as toolgym skills learn writes it." placeholder:"FILE"`
	Rubric         string   `help:"Rubric that pays where a request brings none, YAML or JSON (default: the published lab's)." placeholder:"FILE"`
	AllowHost      []string `help:"Further Host name to answer to, such as a proxy's." placeholder:"HOST" sep:"none"`
	Ollama         []string `help:"Address of an Ollama server whose models may be evaluated." placeholder:"URL" sep:"none"`
	Checkpoint     string   `help:"Trained policy that POST /v1/policy/act plays with; default those in the binary." placeholder:"FILE"`
	MaxCompletions int      `help:"Completions and groups that one request to be scored may have (default: ${default})." default:"65536" placeholder:"N"`
	serveLimits
}

// serveLimits are the limits of a server and of one token. Zero is the default.
type serveLimits struct {
	MaxEpisodes    int     `help:"Live episodes (default: 4096)." placeholder:"N" group:"Limits, over all tokens:"`
	MaxMemory      int64   `help:"Bytes of the trajectories of live episodes (default: 256 MiB)." placeholder:"BYTES" group:"Limits, over all tokens:"`
	MaxSessions    int     `help:"MCP sessions at the same time (default: 1024)." placeholder:"N" group:"Limits, over all tokens:"`
	MaxEvents      int     `help:"Event streams at the same time (default: 256)." placeholder:"N" group:"Limits, over all tokens:"`
	MaxStreams     int     `help:"Scoring streams at the same time (default: 64)." placeholder:"N" group:"Limits, over all tokens:"`
	MaxScoring     int64   `help:"Bytes of the bodies of score routes at the same time (default: 256 MiB)." placeholder:"BYTES" group:"Limits, over all tokens:"`
	MaxBodies      int64   `help:"Bytes of other bodies at the same time (default: 128 MiB)." placeholder:"BYTES" group:"Limits, over all tokens:"`
	MaxRequests    int     `help:"Requests at the same time (default: 1024)." placeholder:"N" group:"Limits, over all tokens:"`
	MaxRuns        int     `help:"Policy runs under way (default: 2)." placeholder:"N" group:"Limits, over all tokens:"`
	MaxEvaluations int     `help:"Evaluations under way (default: 1, or 2 with more than one token)." placeholder:"N" group:"Limits, over all tokens:"`
	TokenShare     float64 `help:"Part of each of these limits that one token may use, above 0 and at most 1 (default: 0.5, or 1 with one token or none)." placeholder:"PART" group:"Limits, over all tokens:"`
	TokenRate      float64 `help:"Requests a second with one token (default: 20000)." placeholder:"RATE" group:"Limits, over all tokens:"`
}

// set puts the limits into the server's configuration.
func (l serveLimits) set(c *api.Config) {
	c.MaxEpisodes, c.MaxMemory, c.MaxSessions, c.MaxEvents, c.MaxStreams = l.MaxEpisodes, l.MaxMemory, l.MaxSessions, l.MaxEvents, l.MaxStreams
	c.MaxScoring, c.MaxBodies, c.MaxConcurrent, c.MaxRuns, c.MaxEvals = l.MaxScoring, l.MaxBodies, l.MaxRequests, l.MaxRuns, l.MaxEvaluations
	c.TokenShare, c.TokenRate = l.TokenShare, l.TokenRate
}

// drain is how long running calls may take to finish after Ctrl-C.
const drain = 10 * time.Second

// Run reports everything that is wrong with the flags before it makes the data
// directory, listens and opens the database, in this order: a port that is in use
// is known before episodes are restored.
func (c serveCommand) Run(ctx context.Context, world *console) error {
	config, err := c.settings(world)
	if err != nil {
		return err
	}
	at, err := c.address(config)
	if err != nil {
		return err
	}
	if config.Data, err = world.dataDir(); err != nil {
		return err
	}
	listener, err := listen(at)
	if err != nil {
		return err
	}
	server, err := api.New(config)
	if err != nil {
		return errors.Join(refusal.Relocate(err, ofServer), listener.Close())
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

// settings is the configuration that the flags ask for, valid and without the
// data directory.
func (c serveCommand) settings(world *console) (config api.Config, err error) {
	config = api.Config{Specs: world.specs, MaxCompletions: c.MaxCompletions, Logger: world.log, AllowHosts: c.AllowHost, CertFile: c.TLSCert, KeyFile: c.TLSKey, Version: version(), Traces: api.TracesWanted(), Checkpoint: c.Checkpoint, Ollama: c.Ollama}
	c.set(&config)
	if config.Tokens, err = readTokens(c.TokenFile); err != nil {
		return config, err
	}
	rubric, err := readRubric(c.Rubric)
	if err != nil {
		return config, err
	}
	config.Rubric = &rubric
	if config.Skills, err = learntSkills(c.Skills); err != nil {
		return config, err
	}
	return config, refusal.Relocate(config.Validate(), ofServer)
}

// address is where --addr says to listen, if the configuration may be served
// there.
func (c serveCommand) address(config api.Config) (*net.TCPAddr, error) {
	at, err := net.ResolveTCPAddr("tcp", c.Addr)
	if err != nil {
		return nil, refusal.New("--addr", "host:port, such as 127.0.0.1:8080", "%v", err)
	}
	return at, refusal.Move("--addr", config.MayServe(at))
}

// readTokens reads the file of --token-file, which has at least one token; nil
// without a file.
func readTokens(path string) ([]api.Token, error) {
	if path == "" {
		return nil, nil
	}
	text, err := readUpTo(path, mostSettings)
	if err != nil {
		return nil, refusal.New("--token-file", "a file that toolgym token has written", "%v", err)
	}
	tokens, err := api.ParseTokens(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(tokens) == 0 {
		return nil, refusal.New(path, "at least one; toolgym token makes it", "there is no token in the file")
	}
	return tokens, nil
}

// ofServer is the flag behind a field of the server's configuration.
func ofServer(field string) string {
	flags := map[string]string{"CertFile": "--tls-cert", "KeyFile": "--tls-key", "Checkpoint": "--checkpoint", "AllowHosts": "--allow-host", "Ollama": "--ollama", "MaxCompletions": "--max-completions",
		"MaxEpisodes": "--max-episodes", "MaxMemory": "--max-memory", "MaxSessions": "--max-sessions", "MaxEvents": "--max-events",
		"MaxStreams": "--max-streams", "MaxScoring": "--max-scoring", "MaxBodies": "--max-bodies", "MaxConcurrent": "--max-requests",
		"MaxRuns": "--max-runs", "MaxEvals": "--max-evaluations", "TokenShare": "--token-share", "TokenRate": "--token-rate"}
	name, _, _ := strings.Cut(field, "[") // without the index
	return cmp.Or(flags[name], field)
}

// listen opens a TCP address. A port in use is something outside.
func listen(address *net.TCPAddr) (net.Listener, error) {
	listener, err := net.ListenTCP("tcp", address)
	if err != nil {
		return nil, &tools.Error{Code: tools.Unavailable, Where: "--addr", Message: err.Error(), Want: "a free port; port 0 picks one"}
	}
	return listener, nil
}

// serveUntil serves until the context ends, then lets running calls finish.
func serveUntil(ctx context.Context, server *api.Server, listener net.Listener) error {
	ended := make(chan error, 1)
	var serving sync.WaitGroup
	goroutine.Go(&serving, func() { ended <- server.Serve(listener) }, func(err error) { ended <- err })
	defer serving.Wait()
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
