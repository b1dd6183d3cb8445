package main

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// attacks is the table of hostile requests. Its bodies are made when they are
// first sent.
func attacks() []attack {
	return slices.Concat(bodyAttacks(), edgeAttacks(), nameAttacks(), schemaAttacks(), textAttacks(), amplifiers(), mcpAttacks(), runAttacks(), connectionAttacks(), heldAttacks())
}

// jsonRoutes are the routes that read a JSON body.
func jsonRoutes() []string {
	return []string{"/v1/episodes", "/v1/episodes/x/calls", "/v1/tools/add/calls", "/v1/parse", "/v1/score", "/get_reward", "/v1/audit", "/v1/export/trl",
		"/v1/policy/runs", "/v1/policy/act", "/v1/evals", "/mcp"}
}

// bodyAttacks are bodies that are no JSON, or more than one reading of it.
func bodyAttacks() []attack {
	refused := []int{400, 404, 413, 415, 422}
	everywhere := func(name, target string, body func(*attacker) []byte) attack {
		return attack{name: name, target: target, accept: refused, send: func(a *attacker) {
			routes := jsonRoutes()
			a.ask(message{http.MethodPost, routes[a.random.IntN(len(routes))], body(a), nil})
		}}
	}
	same := func(name, target string, body func() []byte) attack {
		return everywhere(name, target, func(*attacker) []byte { return body() })
	}
	return []attack{
		everywhere("random bytes", "the JSON reader", func(a *attacker) []byte {
			random := make([]byte, 1+a.random.IntN(64<<10))
			for i := range random {
				random[i] = byte(a.random.Uint32())
			}
			return random
		}),
		same("deep JSON", "the stack", once(func() string { return `{"task_id":` + nested(10_000, `{"a":`, `1`, `}`) + `}` })),
		same("brackets without end", "the stack", once(func() string { return strings.Repeat("[", 1<<19) })),
		same("doubled keys", "two readings of one body", text(`{"task_id":"arithmetic/0/1","task_id":"arithmetic/0/2"}`)),
		same("invalid UTF-8", "two readings of one body", text("{\"task_id\":\"arithmetic/0/\xff\xfe\"}")),
		same("lone surrogates", "two readings of one body", text(`{"task_id":"\ud800"}`)),
		same("a number of 100,000 digits", "the number reader", once(func() string { return `{"seed":1` + strings.Repeat("0", 100_000) + `}` })),
		same("a number with a large exponent", "the number reader", text(`{"seed":1e999999999}`)),
		same("many values", "memory", once(func() string { return `{"a":[` + times(1<<20-100, `0`) + `]}` })),
		same("many keys", "memory", once(func() string {
			var out strings.Builder
			for i := range 60_000 {
				fmt.Fprintf(&out, `"%d":0,`, i)
			}
			return "{" + out.String() + `"":0}`
		})),
		same("no body", "the JSON reader", text("")),
	}
}

// edgeAttacks are hostile around the body.
func edgeAttacks() []attack {
	start := text(`{"task_id":"arithmetic/0/1"}`)
	over := once(func() string { return `{"task_id":"` + strings.Repeat("x", 2<<20) + `"}` })
	return []attack{
		{name: "another Host", target: "DNS rebinding", accept: []int{421}, send: one("POST", "/v1/episodes", start, "Host: evil.example")},
		{name: "another Origin", target: "pages elsewhere", accept: []int{403}, send: one("POST", "/v1/episodes", start, "Origin: http://evil.example")},
		{name: "another site", target: "pages elsewhere", accept: []int{403}, send: one("POST", "/v1/episodes", start, "Sec-Fetch-Site: cross-site")},
		{name: "a form", target: "pages elsewhere", accept: []int{415}, send: one("POST", "/v1/episodes", text("task_id=x"), "Content-Type: application/x-www-form-urlencoded")},
		{name: "a packed body", target: "memory", accept: []int{415}, send: one("POST", "/v1/score", text("\x1f\x8b\x08\x00"), "Content-Encoding: gzip")},
		{name: "an unknown token", target: "tokens", accept: []int{401}, send: one("GET", "/v1/episodes", text(""), "Authorization: Bearer tg_unknown")},
		{name: "two tokens", target: "tokens", accept: []int{401}, send: one("GET", "/v1/episodes", text(""), "X-Api-Key: tg_unknown")},
		{name: "an unknown cookie", target: "visits", accept: []int{401}, send: one("GET", "/v1/episodes", text(""), "Authorization: ", "Cookie: toolgym_visit=x")},
		{name: "what only the administrator may", target: "roles", accept: []int{403}, send: one("GET", "/metrics", text(""))},
		{name: "another's episode", target: "other people's episodes", accept: []int{404}, send: func(a *attacker) {
			if id := a.someEpisode.Load(); id != nil {
				a.ask(message{"GET", "/v1/episodes/" + *id, nil, nil})
				a.ask(message{"DELETE", "/v1/episodes/" + *id, nil, nil})
				a.ask(message{"POST", "/v1/episodes/" + *id + "/calls", []byte(`{"name":"move_up"}`), nil})
				a.ask(message{"POST", "/v1/episodes/" + *id + "/fork", nil, nil})
			}
		}},
		{name: "odd methods", target: "the router", accept: []int{405}, send: one("TRACE", "/v1/episodes", text(""))},
		{name: "odd paths", target: "the router", accept: []int{400, 404, 405}, send: func(a *attacker) {
			paths := []string{"/v1/envs/..%2f..%2fetc%2fpasswd/tools", "/v1/episodes/%00", "//v1//envs", "/v1/episodes/a%0d%0aX-Evil:%201", "/lab/static/..%2f..%2fgo.mod", "/v1/episodes/" + strings.Repeat("x", 10_000)}
			a.ask(message{"GET", paths[a.random.IntN(len(paths))], nil, nil})
		}},
		{name: "odd queries", target: "the router", accept: []int{400, 422}, send: func(a *attacker) {
			queries := []string{"n=1&n=1", "n=1;seed=2", "n=99999999999999999999", "seed=%2B1", "n=1001", "x=1", "%gg=1"}
			a.ask(message{"GET", "/v1/envs/arithmetic/tasks?" + queries[a.random.IntN(len(queries))], nil, nil})
		}},
		{name: "a body over the limit", target: "memory", accept: []int{413}, cut: true, send: one("POST", "/v1/episodes", over)},
		{name: "scoring over the limit of parsing", target: "memory", accept: []int{413}, cut: true, send: one("POST", "/v1/parse", over)},
	}
}

// nameAttacks are names that mean something where they are shown or sent.
func nameAttacks() []attack {
	next := []string{"/%0b/evil.example", "/%09/evil.example", "//evil.example", "/\\evil.example", "/%0d%0aSet-Cookie:%20a=b", "/%00", "https://evil.example", "/%E2%80%AE", "/" + strings.Repeat("x", 3000)}
	return []attack{
		{name: "sign-in that leads elsewhere", target: "the Location header", accept: []int{303}, send: func(a *attacker) {
			form := "token=" + url.QueryEscape(a.secret) + "&next=" + next[a.random.IntN(len(next))]
			got := a.ask(message{"POST", "/lab/signin", []byte(form), []string{"Content-Type: application/x-www-form-urlencoded", "Authorization: "}})
			if location := got.header.Get("Location"); got.status == http.StatusSeeOther && leadsAway(location) {
				a.broken("it leads to %q", location)
			}
		}},
		{name: "page of the sign-in that leads elsewhere", target: "the sign-in page", accept: []int{200}, send: func(a *attacker) {
			a.ask(message{"GET", "/lab/signin?next=" + next[a.random.IntN(4)], nil, []string{"Authorization: ", "Accept: text/html"}})
		}},
		{name: "evaluations with deceptive names", target: "names that are shown", accept: []int{201, 204, 404, 409, 422}, send: func(a *attacker) {
			names := []string{"a\u202eb", "=cmd|' /C calc'!A0", "+1", "@x", "..", "../../etc", "a\u0000b", "<script>alert(1)</script>", "\u200b", "\ufeff", "a\nb", strings.Repeat("é", 200), "-1"}
			name := names[a.random.IntN(len(names))]
			a.ask(message{"POST", "/v1/evals", []byte(`{"model":"idle","route":"agent","envs":["arithmetic"],"levels":["0"],"n":1,"run":` + quoted(name) + `}`), nil})
			a.ask(message{"DELETE", "/v1/evals/" + url.PathEscape(name), nil, nil}) // cancels it, where it runs
			a.ask(message{"DELETE", "/v1/evals/" + url.PathEscape(name), nil, nil})
		}},
	}
}

// leadsAway reports whether a browser may take a Location for one of another
// server, or as more than one header. Browsers drop tabs and line breaks.
func leadsAway(location string) bool {
	control := func(c rune) bool { return c < ' ' || c == 0x7f }
	return !strings.HasPrefix(location, "/") || strings.HasPrefix(location, "//") || strings.Contains(location, "\\") || strings.ContainsFunc(location, control)
}

// schemaAttacks are declared tools, on each route that takes them.
func schemaAttacks() (rows []attack) {
	for _, s := range schemas() {
		body := func(build func(tools, completion, family string) string) func() []byte {
			return once(func() string { return build(toolsOf(s.parameters), callOf(s.arguments), "hermes") })
		}
		routes := []func(*attacker){one("POST", "/v1/parse", body(parseBody)), one("POST", "/v1/score", body(scoreBody)), one("POST", "/v1/score/stream", body(lineBody), "Content-Type: application/x-ndjson")}
		rows = append(rows, attack{name: "schema: " + s.name, target: "the compiler and validator of schemas", accept: []int{200, 400, 413, 422}, send: func(a *attacker) {
			routes[a.random.IntN(len(routes))](a)
		}})
	}
	return rows
}

// textAttacks are completions for readers that go over a text more than once.
func textAttacks() (rows []attack) {
	tools := toolsOf(`{"type":"object","properties":{"a":{"type":"integer"}}}`)
	for _, c := range completions() {
		body := func(bytes int, build func(tools, completion, family string) string) func() []byte {
			return once(func() string { return build(tools, c.of(bytes), c.family) })
		}
		sizes := []func(*attacker){
			one("POST", "/v1/parse", body(100_000, parseBody)), one("POST", "/v1/parse", body(700_000, parseBody)),
			one("POST", "/v1/score", body(100_000, scoreBody)), one("POST", "/v1/score", body(4_000_000, scoreBody)),
			one("POST", "/v1/score/stream", body(700_000, lineBody), "Content-Type: application/x-ndjson"),
		}
		rows = append(rows, attack{name: "text: " + c.name, target: "the readers of completions", accept: []int{200, 413, 422}, cut: true, send: func(a *attacker) {
			sizes[a.random.IntN(len(sizes))](a)
		}})
	}
	return rows
}

// amplifiers are small for what they make the server do or answer.
func amplifiers() []attack {
	group := func(bytes int, member string) func() []byte {
		return once(func() string {
			return `{"groups":[{"id":"g","task_id":"arithmetic/0/1","completions":[` + times(bytes, member) + `]}]}`
		})
	}
	reward := func(n int) func() []byte {
		return once(func() string {
			return `{"query":[` + members(n, `""`) + `],"prompts":[` + members(n, `""`) + `],"labels":[` + members(n, `"arithmetic/0/1"`) + `]}`
		})
	}
	formula := func(text string) func() []byte {
		return once(func() string { return `{"rubric":{"criteria":{"x":{"weight":1,"formula":` + quoted(text) + `}}}}` })
	}
	answered := []int{200, 413, 422}
	return []attack{
		{name: "8 MiB of empty completions", target: "the answer of scoring", accept: answered, cut: true, send: one("POST", "/v1/score", group(8<<20, `{"text":""}`))},
		{name: "22 MiB of empty completions", target: "the answer of scoring", accept: answered, cut: true, send: one("POST", "/v1/score", group(22<<20, `{"text":""}`))},
		{name: "completions of nothing", target: "the answer of scoring", accept: answered, cut: true, send: one("POST", "/v1/score", group(8<<20, `{}`))},
		{name: "many groups", target: "the answer of scoring", accept: answered, cut: true, send: one("POST", "/v1/score", once(func() string {
			return `{"groups":[` + times(4<<20, `{"task_id":"gridworld/4/1","completions":[{"text":""}]}`) + `]}`
		}))},
		{name: "many lines of a stream", target: "the answer of scoring", accept: answered, cut: true, send: one("POST", "/v1/score/stream", once(func() string {
			return strings.Repeat(`{"group":"g","task_id":"arithmetic/0/1","text":""}`+"\n", 40_000)
		}), "Content-Type: application/x-ndjson")},
		{name: "20,000 queries for rewards", target: "the answer of rewards", accept: answered, cut: true, send: one("POST", "/get_reward", reward(20_000))},
		{name: "400,000 queries for rewards", target: "the answer of rewards", accept: answered, cut: true, send: one("POST", "/get_reward", reward(400_000))},
		{name: "audits", target: "the processor", accept: answered, send: one("POST", "/v1/audit", text(`{}`))},
		{name: "a deep formula", target: "the reader of formulas", accept: answered, send: one("POST", "/v1/audit", formula(nested(100_000, "(", "1", ")")))},
		{name: "a long formula", target: "the reader of formulas", accept: answered, send: one("POST", "/v1/audit", formula("1"+strings.Repeat("+1", 100_000)))},
		{name: "many plans", target: "the processor", accept: []int{200, 409}, send: one("POST", "/v1/policy/act", text(`{"task_id":"gridworld/1/1","samples":256,"seed":1}`))},
		{name: "many tasks", target: "the processor", accept: []int{200}, send: one("GET", "/v1/envs/gridworld/tasks?level=4&n=1000", text(""))},
	}
}
