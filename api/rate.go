package api

import (
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/labstack/echo/v4"
	"golang.org/x/time/rate"
)

// A throttle holds a token bucket for each address that sends requests. It
// holds a bounded number of them: a bucket that has filled up again says the
// same as none, and goes first; when all are in use, newcomers share one.
type throttle struct {
	rate  rate.Limit
	burst int
	now   func() time.Time

	mu      sync.Mutex
	buckets map[netip.Addr]*rate.Limiter
	shared  *rate.Limiter
}

const mostBuckets = 4096

func newThrottle(c Config) *throttle {
	t := &throttle{rate: rate.Limit(c.Rate), burst: c.Burst, now: c.Now, buckets: map[netip.Addr]*rate.Limiter{}}
	t.shared = rate.NewLimiter(t.rate, t.burst)
	return t
}

// limited refuses requests that come too fast, and says when to come again.
func (t *throttle) limited(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if wait := t.take(c.RealIP()); wait > 0 {
			return fail(http.StatusTooManyRequests, "too many requests from this address").after(wait)
		}
		return next(c)
	}
}

// take spends a token, or says how long until there is one.
func (t *throttle) take(remote string) time.Duration {
	now := t.now()
	reservation := t.bucket(remote, now).ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait
}

func (t *throttle) bucket(remote string, now time.Time) *rate.Limiter {
	addr := network(remote)
	t.mu.Lock()
	defer t.mu.Unlock()
	if b, ok := t.buckets[addr]; ok {
		return b
	}
	if len(t.buckets) >= mostBuckets {
		t.sweep(now)
	}
	if len(t.buckets) >= mostBuckets {
		return t.shared
	}
	b := rate.NewLimiter(t.rate, t.burst)
	t.buckets[addr] = b
	return b
}

func (t *throttle) sweep(now time.Time) {
	for addr, b := range t.buckets {
		if b.TokensAt(now) >= float64(t.burst) {
			delete(t.buckets, addr)
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
