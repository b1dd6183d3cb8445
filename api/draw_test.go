package api_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// draw draws a request to an operation of the document: mostly one that it
// allows.
func (d *driver) draw(g *generator) sent {
	op := pick(g, d.ops...)
	for slow(op) && !g.chance(8) {
		op = pick(g, d.ops...)
	}
	if list, _, ok := strings.Cut(op.path, "{id}"); ok && len(d.words.of(list)) == 0 && !g.chance(3) && (list != "/v1/policy/runs/" || g.chance(8)) {
		return d.begin(g, strings.TrimSuffix(list, "/"))
	}
	s := sent{op: op, method: op.method, header: asRoot()}
	s.target = d.path(g, op) + d.query(g, op)
	for kind, content := range op.RequestBody.Content {
		s.header.Set("Content-Type", kind)
		s.body = d.body(g, op, kind, content)
	}
	for _, p := range op.Parameters {
		if p.In == "header" && p.Name != "Content-Type" && g.chance(2) {
			s.header.Set(p.Name, pick(g, "0", "1", "2", "-1", "x", "99", ""))
		}
	}
	if g.chance(5) {
		d.disturb(g, &s)
	}
	return s
}

// slow reports an operation that takes as long as a hundred others.
func slow(op operation) bool {
	return op.OperationID == "audit-rubric" || op.OperationID == "start-policy-run" || op.OperationID == "policy-run-plot-png"
}

// begin draws a request that makes something new of a list: one that is allowed.
func (d *driver) begin(g *generator, list string) sent {
	op := d.doc.Paths[list]["post"]
	body := map[string]any{}
	switch op.OperationID {
	case "start-episode":
		body["task_id"] = pick(g, "arithmetic/0/1", "arithmetic/2/17", "gridworld/0/3", "research/0/1")
	case "begin-evaluation":
		body["route"], body["model"], body["levels"] = "agent", pick(g, "idle", "random", "oracle"), []string{"0"}
	}
	d.bound(g, op, body)
	text, err := json.Marshal(body)
	if err != nil {
		panic(err) // values of JSON always encode
	}
	return sent{op: op, method: op.method, target: list, header: asRoot(), body: string(text)}
}

// path fills the parameters of a path: mostly with what is there.
func (d *driver) path(g *generator, op operation) string {
	at := 0
	return regexp.MustCompile(`\{\w+\}`).ReplaceAllStringFunc(op.path, func(name string) string {
		start := strings.Index(op.path[at:], name) + at
		at = start + len(name)
		known := d.words.of(op.path[:start])
		switch name {
		case "{env}":
			known = []string{"arithmetic", "gridworld", "research"}
		case "{name}":
			known = []string{"add", "multiply", "answer", "move_up"}
		}
		if len(known) > 0 && !g.chance(8) {
			return pick(g, known[max(0, len(known)-4):]...)
		}
		return pick(g, "x", "%00", "%2f", "..%2f..", ".", "..", "%ff", "%E2%80%AE", "export.ndjson", "*", "a;b", "a,b", "%20", "a%0d%0ab", strings.Repeat("x", 9000), url.PathEscape(g.text("id")), "")
	})
}

// query draws the parameters of a query.
func (d *driver) query(g *generator, op operation) string {
	var parts []string
	for _, p := range op.Parameters {
		if p.In != "query" || !p.Required && g.chance(2) {
			continue
		}
		var schema map[string]any
		if json.Unmarshal(p.Schema, &schema) != nil {
			continue
		}
		var text string
		switch value := g.value(schema, p.Name, 0).(type) {
		case string:
			text = value
		default:
			raw, _ := json.Marshal(value)
			text = string(raw)
		}
		if known := d.words.of("/v1/evals/"); p.Name == "with" && len(known) > 0 {
			text, _ = url.PathUnescape(pick(g, known...))
		}
		if g.chance(6) {
			text = pick(g, "", "-1", "1e3", "0x10", "true", "\x00", g.text(p.Name))
		}
		parts = append(parts, p.Name+"="+url.QueryEscape(text))
	}
	if g.chance(15) {
		parts = append(parts, pick(g, "x=1", "a;b", "%zz", "=", "&&", "%00=%00", "level", strings.Repeat("a&b&", 200)))
	}
	if len(parts) > 0 && g.chance(15) {
		parts = append(parts, parts[0])
	}
	if len(parts) == 0 {
		return pick(g, "", "", "", "", "?")
	}
	return "?" + strings.Join(parts, "&")
}

// body draws the body of a request; work that it starts is kept small.
func (d *driver) body(g *generator, op operation, kind string, content media) string {
	var schema map[string]any
	if json.Unmarshal(content.Schema, &schema) != nil {
		return ""
	}
	lines := 1
	if kind == "application/x-ndjson" {
		lines = g.IntN(4)
	}
	var text strings.Builder
	for range lines {
		value := g.value(schema, "", 0)
		var known any
		if g.chance(3) && json.Unmarshal(content.Example, &known) == nil {
			value = known
		}
		if g.chance(3) {
			value = g.spoil(value)
		}
		if object, ok := value.(map[string]any); ok {
			d.bound(g, op, object)
		}
		line, err := json.Marshal(value)
		if err != nil {
			panic(err) // values of JSON always encode
		}
		text.Write(line)
		if kind == "application/x-ndjson" {
			text.WriteByte('\n')
		}
	}
	if g.chance(10) {
		return g.garble(text.String())
	}
	if g.chance(40) {
		return text.String() + strings.Repeat(" ", 1<<14)
	}
	return text.String()
}

// bound keeps the trainings and evaluations that a body starts short. What the
// server is to refuse stays.
func (d *driver) bound(g *generator, op operation, body map[string]any) {
	small := func(name string, most int64) {
		n, isNumber := body[name].(json.Number)
		v, err := n.Int64()
		if _, there := body[name]; !there || isNumber && err == nil && v > most && v <= 1_000_000 {
			body[name] = json.Number(pick(g, "1", "2"))
		}
	}
	switch op.OperationID {
	case "start-policy-run":
		small("updates", 3)
	case "begin-evaluation":
		small("n", 2)
		small("trials", 2)
		if g.chance(2) {
			body["route"], body["model"] = "agent", pick(g, "idle", "random", "oracle")
			delete(body, "ollama")
			delete(body, "openai")
			delete(body, "suite")
		}
	}
}

// disturb changes what surrounds the body.
func (d *driver) disturb(g *generator, s *sent) {
	switch g.IntN(8) {
	case 0:
		s.method = pick(g, "HEAD", "OPTIONS", "PUT", "PATCH", "TRACE", "POST", "GET", "DELETE", "PROPFIND")
	case 1:
		s.header.Set("Content-Type", pick(g, "text/plain", "application/x-www-form-urlencoded", ";;;", "application/json; charset=latin1", "multipart/form-data", "application/x-ndjson", "application/json"))
	case 2:
		s.header.Set("Content-Encoding", pick(g, "gzip", "identity", "br", "x"))
	case 3:
		s.header.Set(pick(g, "Origin", "Sec-Fetch-Site"), pick(g, "http://evil.example", "null", "cross-site", "same-origin", "none"))
	case 4:
		s.host = pick(g, "evil.example", "localhost", "127.0.0.1.evil.example", "[::1]", "0.0.0.0")
	case 5:
		s.header = http.Header{"Content-Type": s.header["Content-Type"]}
		if g.chance(2) {
			name, value, _ := strings.Cut(bearer(pick(g, "alice", "carol", "tom", "guess")), ": ")
			s.header.Set(name, value)
		}
	case 6:
		s.header.Set(pick(g, "X-Request-Id", "Accept", "Range", "If-None-Match", "Accept-Encoding", "X-HTTP-Method-Override", "Cookie"),
			pick(g, "x", "text/html", "bytes=0-10", "*", "gzip", "DELETE", "toolgym_visit=x", strings.Repeat("y", 300), "application/problem+json"))
	case 7:
		s.target = pick(g, "/v1", "/v1/", "/v1//envs", "//v1/envs", "/v1/envs/", "/V1/envs", "/v1/nothing", "/v1/episodes/x/y/z", "/v1/../healthz", "/v1/envs%2farithmetic", "/v1/"+strings.Repeat("a/", 2000))
		s.op = operation{}
	}
}
