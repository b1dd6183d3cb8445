package api

import (
	"maps"
	"slices"
)

// Routes lists all routes of a server, those outside of the OpenAPI document
// included, as "GET /v1/envs/:env/tools".
func Routes(s *Server) []string {
	found := map[string]bool{}
	for _, route := range s.echo.Routes() {
		found[route.Method+" "+route.Path] = true
	}
	return slices.Sorted(maps.Keys(found))
}
