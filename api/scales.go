package api

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/danielgtaylor/huma/v2"

	"toolgym/tools"
)

// scales hold what large bodies weigh together, in bytes.
type scales struct {
	capacity int64
	held     atomic.Int64
	streams  atomic.Int64
}

// take puts a weight on, unless it is too much for what is there already. A
// weight alone is never too much.
func (s *scales) take(weight int64) bool {
	if held := s.held.Add(weight); held > s.capacity && held > weight {
		s.held.Add(-weight)
		return false
	}
	return true
}

// completionWeight is about how many bytes of memory a completion takes, its
// text, its attempts and its answer not counted.
const completionWeight = 2 << 10

// leastScoring is what one request may always take.
const leastScoring = 16 << 20

// charge takes memory for the scores of a request, until it is answered. What is
// too much for one request is refused for good, what is too much beside others
// for now.
func (s *Server) charge(ctx context.Context, bytes int64) error {
	x := exchangeOf(ctx)
	if x.charged.Add(bytes) > max(s.config.MaxScoring, leastScoring) {
		s.scales.held.Add(bytes) // it is given back with the rest
		return &tools.Error{Code: tools.TooLarge, Message: fmt.Sprintf("the scores take more than %d bytes", max(s.config.MaxScoring, leastScoring)),
			Want: "a request of fewer completions, attempts or expected calls"}
	}
	if held := s.scales.held.Add(bytes); held > s.scales.capacity && held > x.weight+x.charged.Load() {
		return &tools.Error{Code: tools.Exhausted, Message: "too much is being scored", Want: "try again later"}
	}
	return nil
}

// weighed refuses a large body while others fill the memory that there is for
// them. One that does not say how long it is may become as long as is allowed.
// Routes without a limit of their own take bodies that need no weighing.
func (s *Server) weighed(limit int64) func(huma.Context, func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		weight := int64(0)
		if limit > 0 {
			weight = limit
			if length, err := strconv.ParseInt(ctx.Header("Content-Length"), 10, 64); err == nil {
				weight = min(limit, length)
			}
		}
		if weight > 0 && !s.scales.take(weight) {
			s.busy(ctx, "too much is being scored")
			return
		}
		x := exchangeOf(ctx.Context())
		x.weight = weight
		defer func() { s.scales.held.Add(-weight - x.charged.Load()) }()
		next(ctx)
	}
}

// busy says that something bounded is full.
func (s *Server) busy(ctx huma.Context, detail string) {
	ctx.SetHeader("Retry-After", "1")
	_ = huma.WriteErr(s.api, ctx, http.StatusServiceUnavailable, detail)
}
