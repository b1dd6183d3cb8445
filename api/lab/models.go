package lab

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"toolgym/grpo/rollout"
	"toolgym/internal/goroutine"
	"toolgym/internal/modelserver"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// served is a model of an Ollama server.
type served struct{ Name, Server string }

// models remembers for a moment what the Ollama servers have, so that a slider
// that moves does not ask them for it again and again.
type models struct {
	servers []string
	now     func() time.Time
	within  time.Duration  // a server that takes longer is passed over
	asking  sync.WaitGroup // those who ask behind the pages' backs
	log     *slog.Logger

	mu     sync.Mutex
	at     time.Time
	again  bool // the silent are being asked again
	known  []served
	silent []string
}

const (
	modelsFresh  = 10 * time.Second
	modelsSilent = 20 * time.Second // where one did not answer
	modelsWithin = 5 * time.Second
)

// list is what the servers have, and which of them did not answer. A model that
// several have is the first one's. No page waits for a server that has kept others
// waiting: what is known of it is renewed behind the page's back.
func (m *models) list(ctx context.Context) (known []served, silent []string) {
	if len(m.servers) == 0 {
		return nil, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	switch age := m.now().Sub(m.at); {
	case m.at.IsZero() || len(m.silent) == 0 && age >= modelsFresh:
		m.keep(m.ask(ctx))
	case len(m.silent) > 0 && age >= modelsSilent && !m.again:
		m.again = true
		goroutine.Go(&m.asking, func() { m.askAgain(ctx) }, m.failed)
	}
	return m.known, m.silent
}

// askAgain renews what is known while others go on with what was.
func (m *models) askAgain(ctx context.Context) {
	defer func() { // after a panic as well: the next page asks again
		m.mu.Lock()
		defer m.mu.Unlock()
		m.again = false
	}()
	found := m.ask(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.keep(found)
}

// failed logs a panic of who asks besides requests.
func (m *models) failed(err error) {
	m.log.LogAttrs(context.Background(), slog.LevelError, "listing the models of Ollama servers", goroutine.Attr(err))
}

// keep keeps what each of the servers has, nil of one that did not answer.
func (m *models) keep(answers [][]string) {
	m.known, m.silent, m.at = nil, nil, m.now()
	seen := map[string]bool{}
	for i, found := range answers {
		if found == nil {
			m.silent = append(m.silent, modelserver.Display(m.servers[i]))
		}
		for _, name := range found {
			if !seen[name] {
				seen[name] = true
				m.known = append(m.known, served{name, m.servers[i]})
			}
		}
	}
}

// forget has the servers asked anew.
func (m *models) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at = time.Time{}
}

// ask asks all servers at once. Of one that does not answer the list is nil.
func (m *models) ask(ctx context.Context) [][]string {
	// Who asks may hang up; the answer is for all.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), m.within)
	defer cancel()
	found := make([][]string, len(m.servers))
	var asking sync.WaitGroup
	for i, server := range m.servers {
		goroutine.Go(&asking, func() {
			list, err := rollout.Config{URL: server}.Models(ctx)
			if err != nil {
				return
			}
			found[i] = []string{}
			for _, model := range list {
				found[i] = append(found[i], model.Name)
			}
		}, func(err error) {
			found[i] = nil // as of a server that does not answer
			m.log.LogAttrs(ctx, slog.LevelError, "listing the models of an Ollama server", slog.String("server", server), goroutine.Attr(err))
		})
	}
	asking.Wait()
	return found
}

// find finds a model; what is wrong with the name, or with the servers, is a
// note for people, since a page that was kept must open without them.
func (m *models) find(ctx context.Context, name string) (served, string) {
	known, silent := m.list(ctx)
	for _, model := range known {
		if model.Name == name {
			return model, ""
		}
	}
	switch {
	case len(m.servers) == 0:
		return served{}, "No Ollama server is connected; toolgym serve --ollama names one."
	case len(silent) > 0:
		return served{}, fmt.Sprintf("The Ollama server at %s does not answer.", silent[0])
	}
	return served{}, "The connected Ollama servers have no model of this name."
}

// castModel puts a model into a column.
func (l *Lab) castModel(ctx context.Context, where, setting, name string) (player, error) {
	if name == "" || len(name) > 200 {
		return player{}, refusal.New(where, "ollama:MODEL", "a model without a name, or with one that is too long")
	}
	model, problem := l.models.find(ctx, name)
	p := player{Label: name, name: setting, model: model}
	if problem != "" {
		p.Notes = append(p.Notes, problem)
	}
	return p, nil
}

// converse lets a model play a task.
func converse(ctx context.Context, model served, spec tools.Spec, task tools.Task, seed int) (rollout.Transcript, error) {
	config := rollout.Config{URL: model.Server, Model: model.Name, Timeout: turnWithin}.WithDefaults()
	return rollout.Chat{Config: config}.Run(ctx, spec.New(), task, seed)
}
