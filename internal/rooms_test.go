package internal_test

import (
	"path"
	"slices"
	"strings"
)

// scaffolding names the rooms that exist for tests alone.
func scaffolding() []string {
	return []string{"internal/testkit", "internal/ollamatest", "internal/parts"}
}

// mayImport is the direction of imports: each room, and the rooms right below
// it. What lies below those is allowed as well. A name that ends in "/..."
// stands for every room below that folder which has no row of its own.
func mayImport() map[string][]string {
	everything := []string{"grpo/eval", "grpo/eval/suite", "grpo/eval/report", "grpo/audit", "policy/skill", "policy/train", "policy/trained", "plugin", "internal/store", "internal/evaluation", "internal/fleet", "internal/ndjson", "internal/intake", "internal/chart", "internal/quota", "internal/turns", "internal/plain"}
	return map[string][]string{
		"internal/strictjson":  {},
		"internal/goroutine":   {},
		"internal/quota":       {"internal/refusal"},
		"internal/turns":       {"internal/refusal"},
		"internal/plain":       {"internal/refusal"},
		"internal/atomicfile":  {},
		"tools":                {"internal/strictjson", "internal/goroutine", "internal/atomicfile"},
		"tools/...":            {"internal/episode", "internal/calculator"},
		"tools/envtest":        {"tools/..."},
		"grpo/parse":           {"tools", "internal/refusal"},
		"grpo/objective":       {"internal/refusal"},
		"grpo/match":           {"internal/refusal"},
		"grpo":                 {"grpo/parse", "grpo/objective", "grpo/match"},
		"grpo/audit":           {"grpo"},
		"grpo/bench":           {"grpo", "tools/...", "internal/contest"},
		"grpo/rollout":         {"grpo", "internal/modelserver", "internal/ollama"},
		"grpo/eval/stats":      {},
		"grpo/eval":            {"grpo/rollout", "grpo/eval/stats"},
		"grpo/eval/suite":      {"grpo/eval"},
		"grpo/eval/report":     {"grpo/eval", "internal/chart", "internal/plain"},
		"policy/...":           {"grpo/objective"},
		"policy":               {"policy/...", "tools/...", "grpo"},
		"policy/bench":         {"policy", "internal/contest"},
		"policy/telemetry":     {"policy", "internal/chart"},
		"policy/train":         {"policy/telemetry"},
		"policy/bench/seeds":   {"policy/train"},
		"policy/trained":       {"policy/train"},
		"policy/trained/gen":   {"policy/train"},
		"policy/skill":         {"policy", "internal/chart"},
		"internal/contest":     {},
		"internal/modelserver": {},
		"internal/ollama":      {"internal/strictjson"},
		"internal/ndjson":      {"internal/goroutine"},
		"internal/sse":         {},
		"internal/refusal":     {"tools"},
		"internal/chart":       {"internal/refusal"},
		"internal/intake":      {"grpo/parse"},
		"api/dialect":          {"grpo", "internal/intake"},
		"api/dialect/trl":      {"grpo"},
		"api/client":           {"tools", "grpo/audit", "grpo/eval", "api/dialect", "api/dialect/trl", "internal/sse"},
		"plugin":               {"grpo/eval", "policy", "api/client", "policy/trained"},
		"internal":             {},
		"internal/parts":       {},
		"internal/testkit":     {"tools"},
		"internal/episode":     {"internal/refusal"},
		"internal/calculator":  {"tools"},
		"internal/ollamatest":  {"internal/parts"},
		"internal/store":       {"grpo/eval"},
		"internal/evaluation":  {"internal/store", "internal/quota", "grpo/eval/suite", "grpo/eval/report", "tools/...", "policy/trained"},
		"internal/fleet":       {"internal/store"},
		"api/...":              everything,
		"api/lab":              append([]string{"api", "api/..."}, everything...), // its tests see the pages as api serves them; Go itself refuses more
		"api":                  append([]string{"api/lab", "api/..."}, everything...),
		"cmd/...":              {"api"},
		"examples/...":         {"api"},
	}
}

// confined says which rooms may import a large dependency, by the beginning
// of its import path.
func confined() map[string][]string {
	echo := []string{"api", "api/..."}
	return map[string][]string{
		"gorgonia.org/":                 {"policy", "policy/...", "policy/skill"},
		"github.com/labstack/":          echo,
		"github.com/danielgtaylor/huma": echo,
		"github.com/tmc/langchaingo":    {"plugin", "examples/..."},
		"github.com/ollama/ollama":      {"internal/ollama", "internal/ollamatest", "grpo/rollout"}, // the last in its benchmark only
		"modernc.org/sqlite":            {"internal/store"},
		"github.com/pressly/goose":      {"internal/store"},
		"github.com/nats-io/":           {"internal/fleet"},
	}
}

// rowOf finds the row that speaks for a room: its own, or that of the nearest
// folder above it whose row ends in "/...".
func rowOf(room string) (row string, ok bool) {
	rows := mayImport()
	if _, ok := rows[room]; ok {
		return room, true
	}
	for above := path.Dir(room); above != "."; above = path.Dir(above) {
		if _, ok := rows[above+"/..."]; ok {
			return above + "/...", true
		}
	}
	return "", false
}

// below returns the row and all rows that it may import, by any number of
// steps.
func below(row string) []string {
	rows, found := mayImport(), []string{row}
	for i := 0; i < len(found); i++ {
		for _, next := range rows[found[i]] {
			if !slices.Contains(found, next) {
				found = append(found, next)
			}
		}
	}
	return found
}

// importAllowed decides one import between two rooms of the module. Rooms of
// one row may import each other where that row is a command's or the
// server's, whose parts are one program. Tests may reach the environments and
// the scaffolding from everywhere: they run the real thing.
func importAllowed(from, to string, test bool) bool {
	fromRow, _ := rowOf(from)
	toRow, _ := rowOf(to)
	switch {
	case from == to:
		return true
	case slices.Contains(scaffolding(), to):
		return test || slices.Contains(below(fromRow), toRow)
	case test && (to == "tools" || strings.HasPrefix(to, "tools/")):
		return true
	case fromRow == toRow:
		return strings.HasPrefix(from, "api/") || strings.HasPrefix(from, "cmd/") || strings.HasPrefix(from, "policy/")
	}
	return slices.Contains(below(fromRow), toRow)
}
