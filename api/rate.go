package api

import (
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"
)

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
