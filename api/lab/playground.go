package lab

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"toolgym/grpo"
	"toolgym/grpo/match"
	"toolgym/grpo/parse"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// mostText is how many bytes of a completion a page shows; all of it is read.
const mostText = 50_000

// asMessage says that a draft is a chat message as a server sends it.
const asMessage = "message"

func (l *Lab) playgroundRoutes() []Route {
	return []Route{
		{http.MethodGet, "/lab/playground", "score", l.playground},
		{http.MethodPost, "/lab/playground", "score", l.played},
		{http.MethodPost, "/lab/playground/reading", "score", l.playedPart},
		{http.MethodPost, "/lab/playground/audit", "score", l.auditPart},
	}
}

// A ground is the page of the playground.
type ground struct {
	Draft     draft
	Example   string // the name of the specimen that was loaded
	Sliders   []Slider
	Query     template.URL // of the sliders, for the links to specimens
	Families  []parse.Family
	Origins   []string
	Specimens []specimen
	Outcome   outcome
	Attacks   *attackTable // nil until it is asked for
	Limit     string
}

// An outcome is what there is to say about a draft.
type outcome struct {
	Faults   faults
	Reading  *parse.Reading // nil where the fields are wrong
	Score    *grpo.Score    // nil where nothing could be paid
	Parts    []share
	Findings []finding
	More     int // findings that are not listed
	Segments []segment
	Cut      int // bytes that are not shown
	Tools    []string
	Expects  bool // something is expected
	Expected []match.Call
	Prompt   string // of the task
}

// A share is a criterion's share of a reward.
type share struct {
	Letter, Name          string
	Value, Weight, Reward float64
	Error                 string
}

// playground shows a specimen, or an empty form's.
func (l *Lab) playground(w http.ResponseWriter, r *http.Request) error {
	own, rest := apart(r.URL.Query())
	settings, err := ParseSettings(rest, l.config.Specs, l.config.Rubric)
	if err != nil {
		return err
	}
	name := own.Get("example")
	if name == "" {
		name = specimens()[0].Name
	}
	for _, s := range l.specimens() {
		if s.Name == name {
			return l.showGround(w, r, s.Draft, name, settings, false)
		}
	}
	return &tools.Error{Code: tools.NotFound, Where: "example", Message: fmt.Sprintf("there is no example %.40q", name), Want: "one of the list"}
}

// played answers the form as a whole page, for browsers without scripts.
func (l *Lab) played(w http.ResponseWriter, r *http.Request) error {
	own, settings, err := l.playForm(w, r)
	if err != nil {
		return err
	}
	return l.showGround(w, r, draftOf(own), own.Get("example"), settings, own.Has("audit"))
}

// playedPart answers it with the part of the page that depends on it.
func (l *Lab) playedPart(w http.ResponseWriter, r *http.Request) error {
	own, settings, err := l.playForm(w, r)
	if err != nil {
		return err
	}
	result, err := l.read(r.Context(), draftOf(own), settings)
	if err != nil {
		return err
	}
	return l.part(w, "playground", "outcome", result)
}

// auditPart attacks the rubric of the sliders.
func (l *Lab) auditPart(w http.ResponseWriter, r *http.Request) error {
	_, settings, err := l.playForm(w, r)
	if err != nil {
		return err
	}
	table, err := l.attack(r.Context(), settings)
	if err != nil {
		return err
	}
	return l.part(w, "playground", "attacks", table)
}

func (l *Lab) playForm(w http.ResponseWriter, r *http.Request) (own url.Values, s Settings, err error) {
	form, err := l.sent(w, r)
	if err != nil {
		return nil, s, err
	}
	own, rest := apart(form)
	s, err = ParseSettings(rest, l.config.Specs, l.config.Rubric)
	return own, s, err
}

// families lists them with auto in front.
func families() []parse.Family {
	list := parse.Families()
	return append([]parse.Family{parse.Auto}, list[:len(list)-1]...)
}

func (l *Lab) showGround(w http.ResponseWriter, r *http.Request, d draft, example string, s Settings, audited bool) error {
	page := ground{Draft: d, Example: example, Sliders: s.Sliders()[:4], Families: families(), Specimens: l.specimens(), Limit: bytesOf(l.config.MaxBody)}
	query := url.Values{}
	for _, slider := range page.Sliders {
		query.Set(slider.Name, fmt.Sprint(slider.Value))
	}
	page.Query = template.URL(query.Encode())
	for _, spec := range l.config.Specs {
		for _, level := range spec.Levels {
			page.Origins = append(page.Origins, spec.Name+"/"+level)
		}
	}
	var err error
	if page.Outcome, err = l.read(r.Context(), d, s); err != nil {
		return err
	}
	if audited {
		if page.Attacks, err = l.attack(r.Context(), s); err != nil {
			return err
		}
	}
	return l.show(w, r, "playground", "Playground", page)
}

// read reads a draft by the code of POST /v1/parse, and scores it by that of
// POST /v1/score. What is wrong with a field is told beside it.
func (l *Lab) read(ctx context.Context, d draft, s Settings) (outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, l.config.CallTimeout)
	defer cancel()
	o := outcome{Faults: faults{}}
	end, err := l.turn(ctx)
	if err != nil {
		return o, err
	}
	defer end()
	set, err := l.declared(d, o.Faults)
	if err != nil {
		return o, err
	}
	if d.As != "text" && d.As != asMessage && d.As != "" {
		o.Faults["as"] = "Unknown form. Want text or message."
	}
	if d.Finish != "stop" && d.Finish != "length" && d.Finish != "" {
		o.Faults["finish"] = "Unknown ending. Want stop or length."
	}
	if err := d.Family.Validate(); err != nil {
		if err := o.Faults.note("family", withoutPlace(err)); err != nil {
			return o, err
		}
	}
	if len(o.Faults) > 0 {
		return o, nil
	}
	for _, tool := range set {
		o.Tools = append(o.Tools, tool.Name)
	}
	if o.Reading, err = l.reading(ctx, d, set); err != nil {
		return o, o.Faults.note("text", err)
	}
	if err := l.score(ctx, d, s, set, &o); err != nil {
		return o, err
	}
	o.Findings, o.More = findings(d.Text, *o.Reading, o.Score, o.Expected)
	shown := d.Text[:atRune(d.Text, mostText)]
	o.Cut = len(d.Text) - len(shown)
	for i := range o.Findings {
		if f := &o.Findings[i]; o.Cut > 0 && f.start >= len(shown) {
			f.Kind = "" // its place is not shown
		}
	}
	o.Segments = segments(shown, marks(o.Findings))
	return o, nil
}

// reading reads the text as the body of POST /v1/parse is read. A message is
// handed over as it stands, so that places in it are places in the text.
func (l *Lab) reading(ctx context.Context, d draft, set tools.Set) (*parse.Reading, error) {
	request := parse.Request{Input: parse.Input{Text: &d.Text, Family: d.Family, FinishReason: d.Finish}, Tools: set}
	var reading parse.Reading
	var err error
	if d.As == asMessage {
		if err := wellFormed(d.Text); err != nil {
			return nil, err
		}
		request.Text, request.Message = nil, json.RawMessage(d.Text)
		err = parse.NewReader(set).ReadInto(ctx, &reading, request.Input)
		unplaced(&reading)
	} else {
		body, encoding := json.Marshal(request)
		if encoding != nil {
			return nil, fmt.Errorf("writing a completion: %w", encoding)
		}
		reading, err = l.config.Desk.Read(ctx, body)
	}
	if err != nil {
		return nil, err
	}
	return &reading, nil
}

// unplaced takes places out of a message's reading that are not the message's
// own: those in its content, which is a text for itself.
func unplaced(reading *parse.Reading) {
	reading.Hidden, reading.MadeUp = nil, parse.Span{}
	for i := range reading.Attempts {
		if a := &reading.Attempts[i]; a.Family != parse.Structured {
			a.Span = parse.Span{}
		}
	}
}

// score pays the draft by the weights of the sliders.
func (l *Lab) score(ctx context.Context, d draft, s Settings, set tools.Set, o *outcome) error {
	rubric := s.Rubric(l.config.Rubric)
	completion := grpo.Completion{Text: &d.Text, Family: d.Family, FinishReason: d.Finish}
	if d.As == asMessage {
		completion.Text, completion.Messages = nil, []json.RawMessage{json.RawMessage(d.Text)}
	}
	group := grpo.Group{ID: "playground", Completions: []grpo.Completion{completion}}
	field := "expected"
	switch {
	case d.Task != "":
		if strings.TrimSpace(d.Expected) != "" {
			o.Faults["expected"] = "A task knows what is right. Want no expected calls, or no task."
			return nil
		}
		group.TaskID, field, o.Expects = d.Task, "task", true
		if _, task, err := l.config.Specs.Task(d.Task); err == nil {
			for _, message := range task.Prompt {
				o.Prompt += message.Content + "\n"
			}
		}
	case strings.TrimSpace(d.Expected) == "":
		return nil // nothing is asked, and nothing can be paid
	default:
		expected, err := d.expected()
		if err != nil {
			return o.Faults.note(field, err)
		}
		group.Tools, group.Expected, o.Expected, o.Expects = set, expected, expected.Calls, true
	}
	response, err := l.judge(ctx, grpo.Request{Rubric: &rubric, Groups: []grpo.Group{group}})
	if strings.HasPrefix(whereOf(err), "/groups/0/completions") {
		field = "text"
	}
	if err != nil {
		return o.Faults.note(field, within(err, "/groups/0/expected", "/groups/0/task_id", "/groups/0/completions/0", "/groups/0"))
	}
	o.Score = &response.Groups[0].Completions[0]
	o.Parts = partsOf(o.Score.Criteria)
	return nil
}

// within is an error whose place is told from a field on.
func within(err error, prefixes ...string) error {
	return refusal.Relocate(err, func(where string) string {
		for _, prefix := range prefixes {
			if rest, ok := strings.CutPrefix(where, prefix); ok {
				return rest
			}
		}
		return where
	})
}

// partsOf are the criteria that are paid, and those of the sliders.
func partsOf(criteria grpo.Criteria) (parts []share) {
	published := []string{grpo.CriterionFormat, grpo.CriterionSchema, grpo.CriterionCompletion, grpo.CriterionLength}
	for c := range criteria.All() {
		if c.Weight != 0 || slices.Contains(published, c.Name) {
			parts = append(parts, share{strings.ToUpper(c.Name[:1]), c.Name, c.Value, c.Weight, c.Reward, c.Error})
		}
	}
	return parts
}
