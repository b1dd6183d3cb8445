package api

import (
	"net/http"
	"strconv"
	"sync/atomic"

	"github.com/danielgtaylor/huma/v2"
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
		defer s.scales.held.Add(-weight)
		next(ctx)
	}
}

// busy says that something bounded is full.
func (s *Server) busy(ctx huma.Context, detail string) {
	ctx.SetHeader("Retry-After", "1")
	_ = huma.WriteErr(s.api, ctx, http.StatusServiceUnavailable, detail)
}
