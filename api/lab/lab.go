package lab

import (
	"context"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"time"

	"toolgym/api/training"
	"toolgym/grpo"
	"toolgym/internal/goroutine"
	"toolgym/internal/intake"
	"toolgym/internal/quota"
	"toolgym/tools"
)

// Policy is the Content-Security-Policy under which the pages work.
const Policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; frame-ancestors 'none'; base-uri 'none'"

// A Config is what the pages show, and with what.
type Config struct {
	Specs       tools.Specs
	Scorer      *grpo.Scorer // pays as /v1/score does
	Desk        *intake.Desk // reads as /v1/parse does
	Rubric      grpo.Rubric  // the server's own, from which the sliders start
	Runs        *training.Runs
	Evals       Evaluations // nil for a server without a database
	Ollama      []string    // addresses of the servers whose models may play
	Checkpoint  string      // the file of the server's own policy, or empty
	Now         func() time.Time
	MaxBody     int64         // bytes of a form that is posted
	CallTimeout time.Duration // of what one request sets off
	Logger      *slog.Logger  // of what goes wrong besides requests; nil discards it
	// Judged is told of what was scored, so that it logs what failed on our side;
	// nil does not.
	Judged func(context.Context, grpo.Response)
	// Owner names who sends a request, and Owns says whether what belongs to an
	// owner is theirs to see.
	Owner func(context.Context) string
	Owns  func(ctx context.Context, owner string) bool
	// Turn waits until a request may compute, as heavy requests do elsewhere, and
	// returns what ends its turn. Nil does not wait.
	Turn func(context.Context) (end func(), err error)
	// Guarded is set where a token is asked for, so that pages offer to sign out.
	Guarded bool
	// Events are the streams that may be open; Share is the part of the models that
	// play at the same time which one owner may use.
	Events *quota.Quota
	Share  float64
	// Idle is how long a stream stays open in which nothing changes.
	Idle time.Duration
	// Stopping is closed when the server goes, for streams to end.
	Stopping <-chan struct{}
}

// A Lab serves the pages. It may be used by many goroutines.
type Lab struct {
	config Config
	pages  map[string]*template.Template
	static map[string]asset

	models  *models      // of the Ollama servers
	kept    *kept        // what they said
	playing *quota.Quota // those that play

	summaries summaries
	auditor   *auditor
}

// New prepares the pages.
func New(config Config) (*Lab, error) {
	if config.Logger == nil {
		config.Logger = slog.New(slog.DiscardHandler)
	}
	l := &Lab{config: config, models: &models{servers: config.Ollama, now: config.Now, within: modelsWithin, log: config.Logger},
		kept: newKept(keptEpisodes, keptBytes), playing: quota.New("models playing", quota.Part(playsAtOnce, config.Share)), auditor: newAuditor()}
	var err error
	if l.static, err = assets(); err != nil {
		return nil, err
	}
	if l.pages, err = l.parse(); err != nil {
		return nil, err
	}
	goroutine.Go(&l.models.asking, func() { l.models.list(context.Background()) }, l.models.failed) // so that the first page finds them known
	return l, nil
}

// judge scores a request and tells Judged.
func (l *Lab) judge(ctx context.Context, request grpo.Request) (grpo.Response, error) {
	response, err := l.config.Scorer.Score(ctx, request)
	if err == nil && l.config.Judged != nil {
		l.config.Judged(ctx, response)
	}
	return response, err
}

// Close waits for what the lab does besides requests; an Ollama server that does
// not answer keeps it for a few seconds. No request may follow.
func (l *Lab) Close() { l.models.asking.Wait() }

// A Route is one address of the lab. Its handler's error is an [*tools.Error]
// where the caller is to blame.
type Route struct {
	Method, Path string // the path's parameters are in braces; [http.Request.PathValue] has them
	Role         string // that it needs: a role of package api, public, or empty for any token
	Serve        func(http.ResponseWriter, *http.Request) error
}

// Public is the role of what everybody may load.
const Public = "public"

// Routes lists all addresses.
func (l *Lab) Routes() []Route {
	routes := []Route{{http.MethodGet, "/lab/static/{name}", Public, l.file}}
	routes = append(routes, l.rolloutRoutes()...)
	routes = append(routes, l.trainingRoutes()...)
	routes = append(routes, l.scriptRoutes()...)
	routes = append(routes, l.playgroundRoutes()...)
	routes = append(routes, l.evaluationRoutes()...)
	return routes
}

// Fail writes a refusal as a page, for people.
func (l *Lab) Fail(w http.ResponseWriter, r *http.Request, status int, detail string) error {
	return l.showAs(w, r, status, "fail", heading(status), sentence(detail))
}

// heading says what a status means to somebody who looks at a page.
func heading(status int) string {
	switch status {
	case http.StatusForbidden:
		return "This is not for you"
	case http.StatusNotFound:
		return "There is no such page"
	case http.StatusUnprocessableEntity:
		return "This cannot be shown"
	case http.StatusInternalServerError:
		return "Something went wrong here"
	}
	return http.StatusText(status)
}

// SignIn writes the page that asks for a token. The message says what was wrong
// with the last one.
func (l *Lab) SignIn(w http.ResponseWriter, r *http.Request, status int, next, message string) error {
	page := struct{ Next, Message string }{next, message}
	return l.write(w, status, "signin", "frame.html", view{Title: "Sign in", Path: r.URL.Path, Page: page}) // who is not in cannot sign out
}

// errorf wraps a fault of the pages' own.
func errorf(page string, err error) error { return fmt.Errorf("writing the page %s: %w", page, err) }
