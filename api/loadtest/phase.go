package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"toolgym/internal/goroutine"
)

// The phases of a measurement. Without hostile clients it is one calm phase.
const (
	calm     = iota // the honest clients alone
	hostile         // with the hostile clients
	settling        // between two phases, while what was broken off ends; its calls are not in the figures
	phases
)

// units is the number of parts of the time with, and of that without hostile
// clients. Phases alternate, so that what else the machine does is in both.
const units = 8

// A segment is a phase and how many units it lasts.
type segment struct {
	phase int32
	units int
}

// schedule begins and ends with half a calm phase, which keeps a drift of the
// machine out of the comparison.
func schedule() []segment {
	list := []segment{{calm, 1}}
	for range units/2 - 1 {
		list = append(list, segment{hostile, 2}, segment{calm, 2})
	}
	return append(list, segment{hostile, 2}, segment{calm, 1})
}

// A hostility is what came of a run with hostile clients.
type hostility struct {
	Clients int `json:"clients"`
	// Server is of the honest clients' calls while there were hostile ones; the
	// report's own is of those without. Ratio is that of the 99th percentiles.
	Server figures `json:"server"`
	Ratio  float64 `json:"p99_ratio"`
	// Visits are the other requests of an honest client, in calm and hostile
	// phases: scoring, parsing, MCP, pages.
	Visits [2]figures `json:"visits"`
	// Memory of the server's process, in MiB, at the end of each hostile phase;
	// the report's own is at the end of each calm one.
	Memory   []float64         `json:"memory_mib"`
	Faults   int64             `json:"faults"`
	First    string            `json:"first_fault,omitempty"`
	Ended    string            `json:"server_ended,omitempty"` // what was sent when the server's process ended by itself
	Log      logged            `json:"log"`
	Attacks  map[string]result `json:"attacks"`
	Growth   float64           `json:"memory_growth"` // the last calm memory, in parts of that after the first hostile phase
	Judged   bool              `json:"memory_judged"` // the run was long enough to say that the memory is flat
	Requests int               `json:"requests"`
}

// steadyAfter is the time with hostile clients from which on the memory must be
// flat, and mostGrowth by how much it may differ: shorter runs end before the
// garbage collector has found its pace.
const (
	steadyAfter = time.Minute
	mostGrowth  = 1.25
)

// The tokens of a run with hostile clients. The players share several, since a
// token has a share of the episodes and not all of them.
const playerTokens = 8

// measureHostile alternates phases with and without hostile clients, over the
// same honest ones.
func measureHostile(ctx context.Context, p plan) (r report, err error) {
	secrets, tokens := issue()
	site, err := settle(ctx, p, tokens...)
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, site.leave()) }()
	playing, cancel := context.WithCancel(ctx)
	defer cancel()
	b := &battery{secret: secrets["hostile"], clients: max(1, p.clients/5), sender: newSender(p.clients)}
	b.table = slices.DeleteFunc(attacks(), func(a attack) bool { return !p.attacks.MatchString(a.name) })
	p.clients -= b.clients
	defer b.sender.CloseIdleConnections()
	s := &siege{ctx: playing, sender: newSender(p.clients + 1), admin: secrets["admin"]}
	defer s.sender.CloseIdleConnections()
	s.address.Store(&site.server.address)
	var watching sync.WaitGroup
	h := &hostility{Clients: b.clients}
	goroutine.Go(&watching, func() {
		select {
		case <-site.server.ended:
			h.Ended = b.results.running()
			cancel()
		case <-playing.Done():
		}
	}, s.failed)
	r = report{Episodes: p.episodes, Clients: p.clients, Hostile: h}
	var players []string
	for i := range playerTokens {
		players = append(players, secrets[playerName(i)])
	}
	s.alternate(p, b, &r, enlist(s, p, players...), &visitor{siege: s, secret: secrets["visitor"]})
	cancel()
	watching.Wait()
	if h.Log, err = readLog(site.log.Name()); err != nil {
		return r, err
	}
	return r, ctx.Err()
}

func playerName(i int) string { return fmt.Sprintf("player-%d", i+1) }

// issue makes the tokens of a run: the lines of the token file, and the secrets
// by name.
func issue() (secrets map[string]string, lines []string) {
	roles := map[string]string{"hostile": "play,score,train", "visitor": "play,score", "admin": "admin"}
	for i := range playerTokens {
		roles[playerName(i)] = "play"
	}
	secrets = map[string]string{}
	for name, list := range roles {
		secrets[name] = "tg_" + rand.Text()
		lines = append(lines, fmt.Sprintf("%s:%s:%x", name, list, sha256.Sum256([]byte(secrets[name]))))
	}
	return secrets, lines
}

// alternate goes through the schedule and sums up.
func (s *siege) alternate(p plan, b *battery, r *report, players []*player, v *visitor) {
	h := r.Hostile
	r.Memory = []float64{s.memory()}
	group := s.play(players)
	goroutine.Go(group, v.play, s.failed)
	var took [phases]time.Duration
	for i, next := range schedule() {
		s.phase.Store(settling)
		sleep(s.ctx, min(p.duration/units/4, 3*time.Second))
		began, ctx := time.Now(), s.ctx
		s.phase.Store(next.phase)
		if next.phase == calm {
			sleep(ctx, time.Duration(next.units)*p.duration/units)
			r.Memory = append(r.Memory, s.memory())
		} else {
			attacking, stop := context.WithTimeout(ctx, time.Duration(next.units)*p.duration/units)
			b.run(attacking, s, uint64(i))
			stop()
			h.Memory = append(h.Memory, s.memory())
		}
		took[next.phase] += time.Since(began)
	}
	s.over.Store(true)
	group.Wait()
	waits := make([][]time.Duration, len(players))
	for i, player := range players {
		waits[i] = player.waits[hostile]
	}
	h.Server = figuresOf(waits, took[hostile])
	r.sum(players, took[calm])
	h.sum(s, b, r, v, took, p.duration >= steadyAfter)
}

// sum sums up what the attackers and the visitor met.
func (h *hostility) sum(s *siege, b *battery, r *report, v *visitor, took [phases]time.Duration, judged bool) {
	for phase := range h.Visits {
		h.Visits[phase] = figuresOf([][]time.Duration{v.waits[phase]}, took[phase])
	}
	if r.Server.P99 > 0 {
		h.Ratio = h.Server.P99 / r.Server.P99
	}
	if first := r.Memory[min(2, len(r.Memory)-1)]; first > 0 {
		h.Growth = r.Memory[len(r.Memory)-1] / first
	}
	h.Judged = judged
	h.Faults, h.First = s.hostileFaults.count.Load(), s.hostileFaults.firstText()
	h.Attacks = b.results.taken()
	for _, one := range h.Attacks {
		for _, n := range one.Statuses {
			h.Requests += n
		}
	}
	if status, _ := s.send("", http.MethodGet, "/healthz", nil, nil); status != http.StatusOK {
		s.faults.add("at the end: GET /healthz: %d", status)
		r.Faults, r.First = s.faults.count.Load(), s.faults.firstText()
	}
}

// broken is the error of a promise that was not kept. The ratio is none: it
// depends on the machine.
func (h *hostility) broken() (err error) {
	if h.Ended != "" {
		err = errors.Join(err, fmt.Errorf("the server's process ended by itself; the attacks of that moment: %s", h.Ended))
	}
	if h.Faults != 0 {
		err = errors.Join(err, fmt.Errorf("%d answers to attacks that should not have been; the first: %s", h.Faults, h.First))
	}
	if h.Log.Panics != 0 || h.Log.Errors != 0 {
		err = errors.Join(err, fmt.Errorf("the log has %d records of panics and %d errors; the first: %s", h.Log.Panics, h.Log.Errors, h.Log.First))
	}
	if h.Judged && h.Growth > mostGrowth {
		err = errors.Join(err, fmt.Errorf("the memory grew to %.2f times what it was after the first hostile phase", h.Growth))
	}
	return err
}

func (h *hostility) print(out io.Writer) error {
	line := func(name string, f figures) string {
		return fmt.Sprintf("%-17s %8d requests %8.0f/s   median %6.2f ms   p99 %6.2f ms   max %7.2f ms\n", name, f.Calls, f.PerSecond, f.Median, f.P99, f.Max)
	}
	text := fmt.Sprintf("with %d hostile clients, which sent %d requests:\n", h.Clients, h.Requests) + line("calls", h.Server) +
		fmt.Sprintf("p99 ratio         %.2f (with hostile clients to without)\n", h.Ratio) +
		line("visits, calm", h.Visits[calm]) + line("visits, hostile", h.Visits[hostile]) +
		fmt.Sprintf("memory            %.0f MiB, at the ends of the hostile phases; growth %.2f\n", h.Memory, h.Growth) +
		fmt.Sprintf("faults            %d (answers to attacks that should not have been); the log has %d panics and %d errors\n", h.Faults, h.Log.Panics, h.Log.Errors)
	if _, err := io.WriteString(out, text); err != nil {
		return err
	}
	return printAttacks(out, h.Attacks)
}
