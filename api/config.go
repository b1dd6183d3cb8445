package api

import (
	"cmp"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"regexp"
	"strings"
	"time"

	"toolgym/grpo"
	"toolgym/grpo/rollout"
	"toolgym/internal/refusal"
	"toolgym/policy"
	"toolgym/policy/skill"
	"toolgym/tools"
)

// A Config says what a server offers and how much of it. Only Specs must be
// set; of every other field, zero takes the default that it names.
type Config struct {
	Specs tools.Specs // the environments, in the order of display

	// Skills are offered as tools in their environments and listed at
	// /v1/skills; nil for none. The library must not be changed while it is served.
	Skills *skill.Library

	Now    func() time.Time // the clock; default time.Now
	NewID  func() string    // makes ids of episodes and requests, never the same twice; default crypto/rand.Text
	Logger *slog.Logger     // one record a request; default slog.Default

	// AllowHosts are Host names to answer to besides those of the loopback:
	// the names by which a proxy or a container is reached, without a port.
	AllowHosts []string
	// Tokens are those that are let in. Without any, everybody is, and Serve
	// keeps to the loopback.
	Tokens []Token
	// CertFile and KeyFile, in PEM, make Serve speak TLS.
	CertFile, KeyFile string

	// Data is the folder of the database in which episodes outlive the process.
	// Without one they are kept in memory alone.
	Data      string
	Retention time.Duration // how long an episode that is over stays in the database; default 7 days
	MaxKept   int           // such episodes at most; default 100,000

	// Rubric pays for completions where a request brings none; default the
	// published reward lab's.
	Rubric     *grpo.Rubric
	MaxScoring int64 // bytes of bodies to be scored, and of scores, at the same time; default 256 MiB
	// MaxCompletions bounds the completions of one request to be scored, groups
	// included; default 65,536.
	MaxCompletions int
	MaxStreams     int           // scoring streams at the same time; default 64
	StreamTimeout  time.Duration // how long a stream waits for a line to come, or to be taken; default 10 minutes

	MaxEpisodes int           // live episodes; default 4,096
	MaxSteps    int           // steps of one episode, after which it is truncated; default 10,000
	MaxMemory   int64         // bytes of all trajectories together, about; default 256 MiB
	MaxBody     int64         // bytes of a request's body; default 1 MiB
	MaxBodies   int64         // bytes of all bodies of other routes at the same time; default 128 MiB
	MaxSessions int           // MCP sessions at the same time; default 1,024
	MaxEvents   int           // event streams at the same time, those of the pages and of MCP too; default 256
	IdleExpiry  time.Duration // an episode that is not used for so long is given up; default 30 minutes
	CallTimeout time.Duration // how long one call may take; default 30 seconds

	HeaderTimeout time.Duration // how long the head of a request may take to arrive; default 10 seconds
	BodyTimeout   time.Duration // and its body, and the answer to be read; default 30 seconds
	IdleTimeout   time.Duration // how long a connection may stay open without a request; default 2 minutes

	// Checkpoint is the file of a trained policy that POST /v1/policy/act plays
	// with where no run is named; "" leaves it to those in the binary (package
	// policy/trained).
	Checkpoint string
	MaxEvals   int      // evaluations under way; default 1, or 2 with more than one token
	Ollama     []string // addresses of the Ollama servers whose models may be listed and evaluated
	MaxRuns    int      // policy runs under way, held ones too; default 2

	MaxConcurrent int // requests answered at the same time; default 1,024

	// TokenShare is the part of each limit above that one token may use: of
	// MaxEpisodes, MaxMemory, MaxSessions, MaxEvents, MaxStreams, MaxScoring,
	// MaxBodies, MaxRuns, MaxEvals and MaxConcurrent. It is at least one of each. Default 0.5, and 1 without tokens or with one.
	TokenShare    float64
	TokenEpisodes int     // live episodes of one token; default its share
	TokenRate     float64 // requests a second with one token; default Rate
	Rate          float64 // requests a second from one address; default 20,000
	Burst         int     // requests at once from one address; default the rate

	// Traces sends a span of every request by OTLP, as the OTEL_* variables of the
	// environment say.
	Traces bool

	Version string // of the program, for the OpenAPI document; default "devel"
}

// withDefaults fills in the fields that are zero.
func (c Config) withDefaults() Config {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.NewID == nil {
		c.NewID = rand.Text
	}
	c.Specs = schooled(c.Specs, c.Skills)
	c.Logger = cmp.Or(c.Logger, slog.Default())
	if c.Rubric == nil {
		rubric := grpo.DefaultRubric()
		c.Rubric = &rubric
	}
	c.MaxScoring = cmp.Or(c.MaxScoring, 256<<20)
	c.MaxCompletions = cmp.Or(c.MaxCompletions, 1<<16)
	c.MaxStreams = cmp.Or(c.MaxStreams, 64)
	c.StreamTimeout = cmp.Or(c.StreamTimeout, 10*time.Minute)
	c.MaxEpisodes = cmp.Or(c.MaxEpisodes, 4096)
	c.MaxSteps = cmp.Or(c.MaxSteps, 10_000)
	c.MaxMemory = cmp.Or(c.MaxMemory, 256<<20)
	c.MaxBody = cmp.Or(c.MaxBody, 1<<20)
	c.MaxBodies = cmp.Or(c.MaxBodies, 128<<20)
	c.MaxSessions = cmp.Or(c.MaxSessions, 1024)
	c.MaxEvents = cmp.Or(c.MaxEvents, 256)
	c.IdleExpiry = cmp.Or(c.IdleExpiry, 30*time.Minute)
	c.CallTimeout = cmp.Or(c.CallTimeout, 30*time.Second)
	c.Rate = cmp.Or(c.Rate, 20_000)
	c.Burst = cmp.Or(c.Burst, max(1, int(c.Rate)))
	c.Retention = cmp.Or(c.Retention, 7*24*time.Hour)
	c.MaxKept = cmp.Or(c.MaxKept, 100_000)
	c.HeaderTimeout = cmp.Or(c.HeaderTimeout, 10*time.Second)
	c.BodyTimeout = cmp.Or(c.BodyTimeout, 30*time.Second)
	c.IdleTimeout = cmp.Or(c.IdleTimeout, 2*time.Minute)
	if len(c.Tokens) > 1 {
		c.MaxEvals, c.TokenShare = cmp.Or(c.MaxEvals, 2), cmp.Or(c.TokenShare, 0.5)
	}
	c.MaxEvals, c.TokenShare = cmp.Or(c.MaxEvals, 1), cmp.Or(c.TokenShare, 1)
	c.MaxRuns = cmp.Or(c.MaxRuns, 2)
	c.MaxConcurrent = cmp.Or(c.MaxConcurrent, 1024)
	c.TokenRate = cmp.Or(c.TokenRate, c.Rate)
	c.Version = cmp.Or(c.Version, "devel")
	return c
}

// Validate reports the first field that cannot be served, as an [*tools.Error]
// with code invalid. Zero is valid wherever it takes a default. It reads the files
// that the configuration names, and opens neither Data nor a port, so that
// whatever is wrong is known before the server changes anything.
func (c Config) Validate() error {
	for _, validate := range []func() error{c.validateLimits, c.validateTLS, c.validateHosts, c.validateTokens, c.validateSpecs, c.validateRewards, c.validateTraces} {
		if err := validate(); err != nil {
			return err
		}
	}
	return nil
}

// validateTLS checks that the certificate and the key are given together, before
// it reads them.
func (c Config) validateTLS() error {
	for _, pair := range []struct{ missing, path, other string }{
		{"KeyFile", c.CertFile, c.KeyFile},
		{"CertFile", c.KeyFile, c.CertFile},
	} {
		if pair.path != "" && pair.other == "" {
			return refusal.New(pair.missing, "a certificate and its key, or neither", "missing for %s", pair.path)
		}
	}
	_, err := c.certificates()
	return err
}

// certificates loads the certificate and its key; without them there are none.
func (c Config) certificates() ([]tls.Certificate, error) {
	if c.CertFile == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
	if err != nil {
		return nil, refusal.New("CertFile", "a certificate and its key, in PEM", "%v", err)
	}
	return []tls.Certificate{pair}, nil
}

func (c Config) validateTokens() error {
	for i, token := range c.Tokens {
		err := token.validate()
		if err == nil {
			err = repeated(c.Tokens[:i], token)
		}
		if err != nil {
			return refusal.Move(fmt.Sprintf("Tokens[%d]", i), err)
		}
	}
	return nil
}

// validateHosts checks the names that the server answers to and the addresses
// that it asks.
func (c Config) validateHosts() error {
	for i, address := range c.Ollama {
		if err := rollout.ValidateURL(address); err != nil {
			return refusal.Move(fmt.Sprintf("Ollama[%d]", i), err)
		}
	}
	for i, host := range c.AllowHosts {
		if _, _, err := net.SplitHostPort(host); err == nil || host == "" || strings.ContainsAny(host, "/*[] ") {
			return refusal.New(fmt.Sprintf("AllowHosts[%d]", i), "a name or an address, without scheme, port or wildcard", "%q is no Host name", host)
		}
	}
	return nil
}

// validateRewards checks what pays for completions, and the policy that plays.
func (c Config) validateRewards() error {
	if c.Rubric != nil {
		if _, err := grpo.NewScorer(c.Specs, *c.Rubric); err != nil {
			return refusal.Below("Rubric", err)
		}
	}
	if c.Checkpoint != "" {
		if _, _, err := policy.LoadNet(c.Checkpoint); err != nil {
			return refusal.Move("Checkpoint", err)
		}
	}
	return nil
}

func (c Config) validateSpecs() error {
	if len(c.Specs) == 0 {
		return refusal.New("Specs", "at least one tools.Spec", "there is no environment to serve")
	}
	seen := map[string]bool{}
	for i, spec := range c.Specs {
		where := fmt.Sprintf("Specs[%d]", i)
		if seen[spec.Name] {
			return refusal.New(where, "each name once", "the name %q stands twice", spec.Name)
		}
		seen[spec.Name] = true
		if err := validateSpec(where, spec); err != nil {
			return err
		}
	}
	return nil
}

// MayServe refuses what [Server.Serve] refuses: an address that other machines can
// reach, unless there are tokens. A command calls it before it listens.
func (c Config) MayServe(address net.Addr) error {
	if !reachable(address) || len(c.Tokens) > 0 {
		return nil
	}
	return &tools.Error{Code: tools.Forbidden, Where: "address",
		Message: fmt.Sprintf("%s can be reached from other machines", address), Want: "an address of the loopback, or tokens (--token-file)"}
}

func (c Config) validateLimits() error {
	limits := []struct {
		name  string
		value float64
	}{
		{"MaxEpisodes", float64(c.MaxEpisodes)}, {"MaxSteps", float64(c.MaxSteps)}, {"MaxMemory", float64(c.MaxMemory)},
		{"MaxBody", float64(c.MaxBody)}, {"IdleExpiry", float64(c.IdleExpiry)}, {"CallTimeout", float64(c.CallTimeout)},
		{"Rate", c.Rate}, {"Burst", float64(c.Burst)}, {"Retention", float64(c.Retention)}, {"MaxKept", float64(c.MaxKept)},
		{"HeaderTimeout", float64(c.HeaderTimeout)}, {"BodyTimeout", float64(c.BodyTimeout)}, {"IdleTimeout", float64(c.IdleTimeout)},
		{"MaxScoring", float64(c.MaxScoring)}, {"MaxCompletions", float64(c.MaxCompletions)}, {"MaxStreams", float64(c.MaxStreams)}, {"StreamTimeout", float64(c.StreamTimeout)},
		{"MaxConcurrent", float64(c.MaxConcurrent)}, {"TokenEpisodes", float64(c.TokenEpisodes)}, {"TokenRate", c.TokenRate},
		{"MaxRuns", float64(c.MaxRuns)}, {"MaxEvals", float64(c.MaxEvals)}, {"MaxBodies", float64(c.MaxBodies)},
		{"MaxSessions", float64(c.MaxSessions)}, {"MaxEvents", float64(c.MaxEvents)}, {"TokenShare", c.TokenShare},
	}
	for _, limit := range limits {
		if limit.value != limit.value || limit.value < 0 {
			return refusal.New(limit.name, "a positive limit, or zero for the default", "a limit is negative or no number")
		}
	}
	if c.TokenShare > 1 {
		return refusal.New("TokenShare", "a number above 0 and at most 1", "got %v", c.TokenShare)
	}
	return nil
}

// validateSpec checks what the routes rely on: a name that fits into a task id,
// something to choose from, and the three functions that make things.
func validateSpec(where string, spec tools.Spec) error {
	if !regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`).MatchString(spec.Name) {
		return refusal.New(where+".Name", "lower-case letters, digits, - and _", "the name %q does not fit into a task id", spec.Name)
	}
	if len(spec.Rules) == 0 || len(spec.Levels) == 0 {
		return refusal.New(where, "at least one of each", "no rules or no levels")
	}
	if spec.Tools == nil || spec.NewTask == nil || spec.New == nil {
		return refusal.New(where, "all three", "Tools, NewTask or New is nil")
	}
	for _, level := range spec.Levels {
		if err := spec.Tools("", level).Validate(); err != nil {
			return fmt.Errorf("%s, level %s: %w", where, level, err)
		}
	}
	return nil
}
