package api

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humaecho"
	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"

	"toolgym/internal/quota"
	"toolgym/internal/turns"
	"toolgym/tools"
)

// shares are the bounded resources that requests use while they are answered,
// each with a share for one token. Episodes, policy runs and evaluations outlast
// requests and count themselves.
type shares struct {
	requests  *quota.Quota // of one token
	strangers *quota.Quota // requests without a token, where tokens are asked for
	events    *quota.Quota // streams of Server-Sent Events
	sessions  *quota.Quota // of MCP
	streams   *quota.Quota // that are scored
	scoring   *quota.Quota // bytes of bodies of score routes
	bodies    *quota.Quota // bytes of other bodies
}

func newShares(c Config) shares {
	part := func(what string, all int64) *quota.Quota { return quota.New(what, quota.Part(all, c.TokenShare)) }
	concurrent := int64(c.MaxConcurrent)
	return shares{
		requests:  part("requests at the same time", concurrent),
		strangers: quota.New("requests without a token at the same time", quota.Limits{All: max(1, concurrent/2), Each: max(1, concurrent/2)}),
		events:    part("event streams", int64(c.MaxEvents)),
		sessions:  part("MCP sessions", int64(c.MaxSessions)),
		streams:   part("scoring streams", int64(c.MaxStreams)),
		scoring:   part("bytes of bodies to be scored", c.MaxScoring),
		bodies:    part("bytes of request bodies", c.MaxBodies),
	}
}

// weight is what a body may take in memory: its length or, where the request
// does not tell it, as much as is allowed.
func weight(length string, limit int64) int64 {
	if n, err := strconv.ParseInt(length, 10, 64); err == nil && n >= 0 {
		return min(limit, n)
	}
	return limit
}

// weighed refuses a body while others fill the memory that there is for them.
// Routes with a limit of their own are those that score.
func (s *Server) weighed(r route, body bool) func(huma.Context, func(huma.Context)) {
	bodies, limit := s.shares.bodies, s.config.MaxBody
	if r.limit > 0 {
		bodies, limit = s.shares.scoring, r.limit
	}
	return func(ctx huma.Context, next func(huma.Context)) {
		if !body {
			next(ctx)
			return
		}
		x := exchangeOf(ctx.Context())
		x.weight = weight(ctx.Header("Content-Length"), limit)
		release, err := bodies.Take(x.caller.name, x.weight)
		if err != nil {
			s.refuse(ctx, err)
			return
		}
		defer release()
		defer func() { s.shares.scoring.Give(x.caller.name, x.charged) }()
		next(ctx)
	}
}

// completionWeight is about how many bytes of memory a completion takes, without
// its text, its attempts and its answer.
const completionWeight = 2 << 10

// leastScoring is how many bytes one request may always take.
const leastScoring = 16 << 20

// charge takes memory for the scores of a request until it is answered. What is
// too much for one request is too_large; what is too much together with other
// requests is exhausted.
func (s *Server) charge(ctx context.Context, bytes int64) error {
	x := exchangeOf(ctx)
	x.charging.Lock()
	defer x.charging.Unlock()
	held := x.weight + x.charged
	if most := max(s.config.MaxScoring, leastScoring); held+bytes > most {
		return &tools.Error{Code: tools.TooLarge, Message: fmt.Sprintf("the tools and scores take more than %d bytes", most),
			Want: "a request of fewer tools, completions, attempts or expected calls"}
	}
	if err := s.shares.scoring.Grow(x.caller.name, held, bytes); err != nil {
		return err
	}
	x.charged += bytes
	return nil
}

// uncharge gives back memory that charge took.
func (s *Server) uncharge(ctx context.Context, bytes int64) {
	x := exchangeOf(ctx)
	x.charging.Lock()
	defer x.charging.Unlock()
	x.charged -= bytes
	s.shares.scoring.Give(x.caller.name, bytes)
}

// weighedForm is weighed for a route of Echo's own.
func (s *Server) weighedForm(handle echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Method != http.MethodPost {
			return handle(c)
		}
		release, err := s.shares.bodies.Take(exchangeOf(r.Context()).caller.name, weight(r.Header.Get("Content-Length"), s.config.MaxBody))
		if err != nil {
			unread(c.Response().Writer)
			return edgeFailure(err)
		}
		defer release()
		return handle(c)
	}
}

// unread lets a refusal be sent before the body has come, which may take the
// client long or never end. The connection ends with the answer.
func unread(w http.ResponseWriter) {
	_ = http.NewResponseController(w).EnableFullDuplex() // HTTP/2 is so by itself
	w.Header().Set("Connection", "close")
}

// refuse answers with an error of a quota.
func (s *Server) refuse(ctx huma.Context, err error) {
	unread(humaecho.Unwrap(ctx).Response().Writer)
	f := failureOf(nil, err)
	for name, values := range f.header {
		ctx.SetHeader(name, values[0])
	}
	_ = huma.WriteErr(s.api, ctx, f.Status, f.Detail)
}

// The kinds of work that a route does.
const (
	light    = iota // it answers at once
	heavy           // it computes, as long as the request asks for
	streamed        // it takes turns by itself, or mostly waits
)

// newTurn is a turn of the caller's that has not begun.
func (s *Server) newTurn(ctx context.Context, most time.Duration) *turns.Turn {
	return s.turns.Turn(exchangeOf(ctx).caller.name, most)
}

// computes gives a request of a heavy route its turn, which begins when the body
// has been read and ends before the answer is written: a client that sends or
// reads slowly has none meanwhile. Other requests are counted.
func (s *Server) computes(kind int) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		x := exchangeOf(ctx.Context())
		switch kind {
		case light:
			defer s.turns.Light()()
		case heavy:
			x.turn = s.newTurn(ctx.Context(), s.config.CallTimeout)
			defer x.turn.End()
		}
		next(ctx)
	}
}

// A throttle holds a token bucket for each address that sends requests, or for
// each name of a token. It holds a bounded number of them: a bucket that has filled up again says the
// same as none, and goes first; when all are in use, newcomers share one.
type throttle struct {
	rate  rate.Limit
	burst int
	now   func() time.Time

	mu      sync.Mutex
	buckets map[string]*rate.Limiter
	shared  *rate.Limiter
}

const mostBuckets = 4096

func newThrottle(perSecond float64, burst int, now func() time.Time) *throttle {
	t := &throttle{rate: rate.Limit(perSecond), burst: burst, now: now, buckets: map[string]*rate.Limiter{}}
	t.shared = rate.NewLimiter(t.rate, t.burst)
	return t
}

// limited refuses requests that come too fast, and says when to come again.
func (t *throttle) limited(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if wait := t.take(network(c.RealIP()).String()); wait > 0 {
			return fail(http.StatusTooManyRequests, "too many requests from this address").after(wait)
		}
		return next(c)
	}
}

// take spends a token, or says how long until there is one.
func (t *throttle) take(who string) time.Duration {
	now := t.now()
	reservation := t.bucket(who, now).ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait
}

func (t *throttle) bucket(who string, now time.Time) *rate.Limiter {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b, ok := t.buckets[who]; ok {
		return b
	}
	if len(t.buckets) >= mostBuckets {
		t.sweep(now)
	}
	if len(t.buckets) >= mostBuckets {
		return t.shared
	}
	b := rate.NewLimiter(t.rate, t.burst)
	t.buckets[who] = b
	return b
}

func (t *throttle) sweep(now time.Time) {
	for who, b := range t.buckets {
		if b.TokensAt(now) >= float64(t.burst) {
			delete(t.buckets, who)
		}
	}
}

// network is the address, or the /64 that one IPv6 customer commands. What is
// no address shares the zero one.
func network(remote string) netip.Addr {
	addr, err := netip.ParseAddr(remote)
	addr = addr.Unmap()
	if err != nil || addr.Is4() {
		return addr
	}
	prefix, err := addr.WithZone("").Prefix(64)
	if err != nil {
		return netip.Addr{}
	}
	return prefix.Addr()
}
