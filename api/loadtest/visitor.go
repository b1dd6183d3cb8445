package main

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// pause is the time between two rounds of a visitor.
const pause = 250 * time.Millisecond

// A visitor is an honest client that uses what players do not: it scores and
// parses completions, plays over MCP and looks at pages, as a browser that has
// signed in once.
type visitor struct {
	*siege
	secret string
	cookie string
	waits  [phases][]time.Duration
}

// play goes round until the time is up.
func (v *visitor) play() {
	form := url.Values{"token": {v.secret}, "next": {"/"}}.Encode()
	signedIn := v.visit("POST", "/lab/signin", form, http.StatusSeeOther, "", "Content-Type: application/x-www-form-urlencoded", "Authorization: ")
	v.cookie, _, _ = strings.Cut(signedIn.header.Get("Set-Cookie"), ";")
	for !v.over.Load() && v.ctx.Err() == nil {
		v.round()
		sleep(v.ctx, pause)
	}
}

// round sends one request of each kind. What is in the answers was checked by
// other tests; that it is there is checked here.
func (v *visitor) round() {
	const called = `<tool_call>\n{\"name\": \"multiply\", \"arguments\": {\"a\": 9, \"b\": 3}}\n</tool_call>`
	completion := `{"text":"` + called + `","family":"hermes"}`
	line := `{"group":"g","task_id":"arithmetic/0/1","text":"` + called + `"}` + "\n"
	v.visit("POST", "/v1/parse", completion, http.StatusOK, `"multiply"`)
	v.visit("POST", "/v1/score", `{"groups":[{"id":"g","task_id":"arithmetic/0/1","completions":[`+times(8*len(completion)+8, completion)+`]}]}`, http.StatusOK, `"advantage"`)
	v.visit("POST", "/v1/score/stream", line+line, http.StatusOK, `"advantage"`, "Content-Type: application/x-ndjson")
	v.visit("POST", "/get_reward", `{"query":["p`+called+`"],"prompts":["p"],"labels":["arithmetic/0/1"]}`, http.StatusOK, `"rewards"`)
	v.visit("GET", "/lab/playground", "", http.StatusOK, "</html>", "Authorization: ", "Cookie: "+v.cookie)
	accept := "Accept: application/json, text/event-stream"
	begun := v.visit("POST", "/mcp?task_id=gridworld/0/1", initializing, http.StatusOK, `"instructions"`, accept)
	session := sessionHeader + ": " + begun.header.Get(sessionHeader)
	v.visit("POST", "/mcp", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"move_up","arguments":{}}}`, http.StatusOK, `"toolgym/step":1`, accept, session)
	v.visit("DELETE", "/mcp", "", http.StatusNoContent, "", accept, session)
	v.visit("DELETE", "/v1/episodes/"+begun.header.Get(sessionHeader), "", http.StatusNoContent, "")
}

// visit sends a request and checks its status and that the answer contains a
// text.
func (v *visitor) visit(method, path, body string, status int, contains string, headers ...string) answer {
	request, err := http.NewRequestWithContext(v.ctx, method, *v.address.Load()+path, strings.NewReader(body))
	if err != nil {
		v.faults.add("%s %s: %v", method, path, err)
		return answer{}
	}
	(&attacker{siege: v.siege, secret: v.secret}).dress(request, message{headers: headers})
	sent, during := time.Now(), v.phase.Load()
	response, err := v.sender.Do(request)
	if err != nil {
		if v.ctx.Err() == nil {
			v.faults.add("%s %s: %v", method, path, err)
		}
		return answer{}
	}
	var text bytes.Buffer
	_, err = text.ReadFrom(response.Body)
	_ = response.Body.Close() // it was read
	v.waits[during] = append(v.waits[during], time.Since(sent))
	if (err != nil || response.StatusCode != status || !strings.Contains(text.String(), contains)) && v.ctx.Err() == nil {
		v.faults.add("%s %s: status %d, error %v, %.200s", method, path, response.StatusCode, err, text.String())
	}
	return answer{status: response.StatusCode, header: response.Header}
}
