package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"toolgym/api/client"
	"toolgym/api/dialect"
	"toolgym/api/training"
	"toolgym/grpo"
	"toolgym/grpo/match"
	"toolgym/grpo/parse"
	"toolgym/internal/intake"
	"toolgym/policy"
	"toolgym/policy/train"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
)

const schemaPrefix = "#/components/schemas/"

// about is the description of the whole API.
const about = "Environments whose actions are JSON-schema tools, played over HTTP.\n\n" +
	"Episodes, MCP sessions, event streams, scoring streams, requests, the bytes of bodies and trajectories, policy runs and evaluations are limited in all and " +
	"for one token. Over the share of the token, and over its rate, the answer is 429; when a limit for all is reached, it is 503. Both say in detail which limit it is and " +
	"in Retry-After when to try again. A stream in which nothing comes for ten minutes ends, as does one that is not read."

// humaConfig sets huma up without its own pages: its documentation page loads
// scripts from elsewhere, and it writes openapi.json without a lock when the
// first reader comes.
func humaConfig(version string) huma.Config {
	registry := huma.NewMapRegistry(schemaPrefix, schemaName)
	registerForms(registry)
	return huma.Config{
		OpenAPI: &huma.OpenAPI{
			OpenAPI: "3.1.0",
			Info:    &huma.Info{Title: "toolgym", Version: version, Description: about},
			Components: &huma.Components{Schemas: registry, SecuritySchemes: map[string]*huma.SecurityScheme{
				"bearer": {Type: "http", Scheme: "bearer", Description: "A token of the server's token file, where it has one."},
				"key":    {Type: "apiKey", In: "header", Name: "X-API-Key", Description: "The same, for clients that send it like this."},
			}},
		},
		Formats:       map[string]huma.Format{"application/json": jsonFormat(), "json": jsonFormat()},
		DefaultFormat: "application/json",
		Transformers:  []huma.Transformer{restate},
	}
}

// schemaName names a schema by its type; those of other packages than the
// vocabulary and the wire carry their package's name, so that two cannot meet.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	name := huma.DefaultSchemaNamer(t, hint)
	switch pkg := path.Base(t.PkgPath()); {
	case pkg == "api" || pkg == ".":
		return name
	case pkg == "client" && slices.Contains([]string{"Call", "Message", "Arguments"}, name):
		return name + "Request"
	case pkg == "client" || pkg == "tools":
		return name
	default:
		return strings.ToUpper(pkg[:1]) + pkg[1:] + name
	}
}

// A pendingBody is a body whose check is compiled when all routes are there.
type pendingBody struct {
	ref   string
	check *bodyCheck
}

// describe completes an operation: its body, its refusals and its examples.
func (s *Server) describe(op *huma.Operation, r route, holds reflect.Type) {
	registry := s.api.OpenAPI().Components.Schemas
	refusals := append([]int{http.StatusBadRequest, http.StatusUnauthorized, http.StatusMisdirectedRequest, http.StatusUnprocessableEntity,
		http.StatusTooManyRequests, http.StatusInternalServerError}, r.refusals...)
	if r.path != "/healthz" { // which answers when everything else is busy
		refusals = append(refusals, http.StatusServiceUnavailable)
	}
	if r.role != public {
		op.Security = []map[string][]string{{"bearer": {}}, {"key": {}}, {}}
	}
	if r.method == http.MethodPost || r.method == http.MethodDelete || r.role != "" && r.role != public {
		refusals = append(refusals, http.StatusForbidden)
	}
	if holds != nil {
		refusals = append(refusals, http.StatusRequestTimeout, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
		s.describeBody(op, r, registry.Schema(holds, true, r.id))
	}
	for _, status := range refusals {
		op.Responses[strconv.Itoa(status)] = s.refusalResponse(r.id, status)
	}
	delete(op.Responses, "default")
	if ok := op.Responses[strconv.Itoa(op.DefaultStatus)]; ok != nil && ok.Content["application/json"] != nil && r.answer != nil {
		ok.Content["application/json"].Example = r.answer
	}
	for _, response := range op.Responses {
		if response.Ref == "" {
			carries(response, "X-Request-Id", requestIDText)
		}
	}
}

const requestIDText = "The id of this exchange: the request's own, or a new one."

// carries adds a header to a response.
func carries(response *huma.Response, name, text string) {
	if response.Headers == nil {
		response.Headers = map[string]*huma.Param{}
	}
	response.Headers[name] = &huma.Param{Description: text, Schema: &huma.Schema{Type: huma.TypeString}}
}

// sharedRefusals names the responses that routes have in common, by status.
func sharedRefusals() map[int]string {
	return map[int]string{
		http.StatusUnauthorized: "Unauthorized", http.StatusForbidden: "Forbidden", http.StatusRequestTimeout: "RequestTimeout",
		http.StatusRequestEntityTooLarge: "ContentTooLarge", http.StatusUnsupportedMediaType: "UnsupportedMediaType",
		http.StatusMisdirectedRequest: "MisdirectedRequest", http.StatusTooManyRequests: "TooManyRequests",
		http.StatusInternalServerError: "InternalServerError", http.StatusServiceUnavailable: "ServiceUnavailable",
	}
}

// refusalResponse is the response of an operation with a problem document: a
// reference where routes have it in common.
func (s *Server) refusalResponse(operation string, status int) *huma.Response {
	name, shared := sharedRefusals()[status]
	if shared {
		operation = ""
	}
	problem := s.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[client.Problem](), true, "")
	response := &huma.Response{
		Description: http.StatusText(status),
		Content:     map[string]*huma.MediaType{problemType: {Schema: problem, Examples: s.examplesOf(operation, status)}},
	}
	if !shared {
		return response
	}
	carries(response, "X-Request-Id", requestIDText)
	switch status {
	case http.StatusUnauthorized:
		carries(response, "WWW-Authenticate", "The scheme to use: Bearer.")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		carries(response, "Retry-After", "Seconds until it is worth trying again.")
	}
	components := s.api.OpenAPI().Components
	if components.Responses == nil {
		components.Responses = map[string]*huma.Response{}
	}
	components.Responses[name] = response
	return &huma.Response{Ref: "#/components/responses/" + name}
}

func (s *Server) describeBody(op *huma.Operation, r route, schema *huma.Schema) {
	check := &bodyCheck{limit: r.limit, number: r.number, most: s.config.MaxCompletions, fields: s.api.OpenAPI().Components.Schemas.SchemaFromRef(schema.Ref)}
	if check.limit == 0 {
		check.limit = s.config.MaxBody
	}
	op.Metadata[checkKey] = check
	s.bodies = append(s.bodies, pendingBody{schema.Ref, check})
	op.RequestBody = &huma.RequestBody{
		Required: true,
		Content:  map[string]*huma.MediaType{"application/json": {Schema: schema, Example: r.request}},
	}
}

// admitNull lets the properties of a schema be null whose fields are pointers to
// objects and are always written. Reflection shows such a field as its object.
func admitNull(schema *huma.Schema, t reflect.Type) {
	if t == nil || t.Kind() != reflect.Struct {
		return
	}
	for _, field := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		property := schema.Properties[name]
		if field.Type.Kind() == reflect.Pointer && !strings.Contains(options, "omit") && property != nil && property.Ref != "" {
			schema.Properties[name] = orNull(property)
		}
	}
}

// orNull is a schema that admits null as well.
func orNull(schema *huma.Schema) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{schema, {Type: "null"}}, Description: schema.Description}
}

// settle mends what reflection cannot know, when every type is registered: no
// list here is ever null (an array of fixed length is, where a pointer leads to
// it), and seeds have all 64 bits. huma's own error types are replaced by ours.
func settle(doc *huma.OpenAPI) {
	schemas := doc.Components.Schemas.Map()
	delete(schemas, "V2ErrorModel")
	delete(schemas, "V2ErrorDetail")
	for name, schema := range schemas {
		admitNull(schema, doc.Components.Schemas.TypeFromRef(schemaPrefix+name))
		for name, property := range schema.Properties {
			if property.Type == huma.TypeArray && property.MinItems == nil {
				property.Nullable = false
			}
			if name == "seed" {
				property.Format = "uint64"
			}
		}
	}
}

// A route is one operation as its resource declares it: what it is for, and
// what it can answer besides the refusals that every route knows.
type route struct {
	id, method, path string
	tag              string // the resource
	role             string // that the caller needs; empty means any token, if there are tokens at all
	summary, text    string
	status           int   // of success; zero means 200
	refusals         []int // statuses of this route's own refusals
	limit            int64 // bytes of the body; zero takes Config.MaxBody
	work             int   // light, heavy or streamed
	request, answer  any   // examples for the document

	parameters []*huma.Param // of a raw route, besides those of its path
	// number counts the completions of a body, and says where they are; nil where
	// a body has none.
	number func(value any) (n int, pointer string)
}

// A reply is an answer with nothing but a body.
type reply[T any] struct{ Body T }

func answered[T any](body T) *reply[T] { return &reply[T]{Body: body} }

// A created is the answer to something new, and says where it is.
type created[T any] struct {
	Location string `header:"Location" doc:"The path of what was made."`
	Body     T
}

// handle serves a route. The handler's input is a struct of path and query
// fields and, where there is one, a field of type body; its errors become
// problem documents, by the table in problem.go where they are the caller's.
func handle[I, O any](s *Server, r route, do func(context.Context, *I) (*O, error)) {
	op := huma.Operation{
		OperationID: r.id, Method: r.method, Path: r.path, Tags: []string{r.tag},
		Summary: r.summary, Description: r.text, DefaultStatus: r.status,
		Metadata:    map[string]any{},
		Middlewares: huma.Middlewares{s.admits(r.role), s.wellAsked, s.weighed(r, bodyOf[I]() != nil), s.computes(r.work)},
	}
	var served *huma.Operation
	huma.Register(s.api, op, func(ctx context.Context, in *I) (*O, error) {
		turn := exchangeOf(ctx).turn
		err := turn.Begin(ctx) // where there is a body, it has begun with that
		var out *O
		if err == nil {
			out, err = do(ctx, in)
			turn.End()
		}
		if err == nil {
			return out, nil
		}
		f := failureOf(served, err)
		if f == nil {
			f = faultOf(ctx, err)
		}
		if f.fault != nil {
			exchangeOf(ctx).fault = f.fault
		}
		f.RequestID = exchangeOf(ctx).id
		return nil, f
	})
	served = registered(s.api.OpenAPI(), r)
	s.describe(served, r, bodyOf[I]())
}

// faultOf answers for errors that are not the caller's. A call that ran into
// its time limit is told so. A client that disconnected gets no answer.
func faultOf(ctx context.Context, err error) *failure {
	if hungUp(ctx) && errors.Is(err, context.Canceled) {
		return fail(http.StatusServiceUnavailable, "the client hung up before its turn")
	}
	f := asFault(ctx, err)
	if errors.Is(err, context.DeadlineExceeded) {
		return fail(http.StatusServiceUnavailable, "the environment took too long; the call was not made").after(time.Second)
	}
	return f
}

// registered finds the operation that huma keeps of a route.
func registered(doc *huma.OpenAPI, r route) *huma.Operation {
	item := doc.Paths[r.path]
	switch r.method {
	case http.MethodPost:
		return item.Post
	case http.MethodDelete:
		return item.Delete
	}
	return item.Get
}

// bodyOf is the type that the body of an input holds, or nil without one.
func bodyOf[I any]() reflect.Type {
	for field := range reflect.TypeFor[I]().Fields() {
		if b, ok := reflect.TypeAssert[described](reflect.New(field.Type)); ok {
			return b.holds()
		}
	}
	return nil
}

// wellAsked refuses a query that is not the operation's.
func (s *Server) wellAsked(ctx huma.Context, next func(huma.Context)) {
	u := ctx.URL()
	model := queryFlaws(ctx.Operation(), u.RawQuery)
	if model == nil {
		next(ctx)
		return
	}
	errs := make([]error, len(model.Errors))
	for i, e := range model.Errors {
		errs[i] = e
	}
	_ = huma.WriteErr(s.api, ctx, model.Status, model.Detail, errs...)
}

// queryFlaws reports a query that does not parse, that has a parameter which the
// operation does not take, or the same parameter twice: whichever value was
// taken, the client may have meant the other. It returns nil for other queries.
func queryFlaws(op *huma.Operation, raw string) *huma.ErrorModel {
	if raw == "" {
		return nil
	}
	query, err := url.ParseQuery(raw)
	if err != nil {
		return &huma.ErrorModel{Status: http.StatusBadRequest, Detail: "the query cannot be read: " + err.Error()}
	}
	var flaws []*huma.ErrorDetail
	for _, name := range slices.Sorted(maps.Keys(query)) {
		flaw := &huma.ErrorDetail{Location: "query." + name}
		switch n := len(query[name]); {
		case !slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.In == "query" && p.Name == name }):
			flaw.Message = "unknown query parameter"
		case n > 1:
			flaw.Message = "the parameter is given " + strconv.Itoa(n) + " times; expected it once"
		default:
			continue
		}
		flaws = append(flaws, flaw)
	}
	if flaws == nil {
		return nil
	}
	return &huma.ErrorModel{Status: http.StatusUnprocessableEntity, Errors: flaws}
}

// compileBodies prepares the checks of all bodies, when every schema is known.
func (s *Server) compileBodies() error {
	all, err := json.Marshal(s.api.OpenAPI().Components)
	if err != nil {
		return fmt.Errorf("writing the schemas: %w", err)
	}
	for _, b := range s.bodies {
		text := fmt.Sprintf(`{"$ref":%q,"components":%s}`, b.ref, all)
		if b.check.schema, err = tools.Declare(b.ref, "", json.RawMessage(text)); err != nil {
			return fmt.Errorf("compiling the schema %s: %w", b.ref, err)
		}
	}
	return nil
}

// The examples of the OpenAPI document. A test checks each against its schema,
// sends the requests to a server and compares its answers.

func exampleTool() tools.Tool {
	type operands struct {
		A json.Number `json:"a" jsonschema:"description=The left operand."`
		B json.Number `json:"b" jsonschema:"description=The right operand."`
	}
	return tools.New[operands, struct{}]("multiply", "Multiplies two numbers.", nil)
}

func exampleEnvs() client.Envs {
	return client.Envs{Envs: []client.Env{{Name: "arithmetic", Description: "Compute an expression with tools.",
		Rules: []string{tools.Sound, tools.Documented}, Levels: []string{"0", "1", "2"}, Tools: tools.Set{exampleTool()}}}}
}

func exampleTask() tools.Task {
	return tools.Task{ID: "arithmetic/2/17", Env: "arithmetic", Level: "2", Seed: 17, Rules: tools.Sound,
		Prompt: []tools.Message{{Role: "user", Content: "Compute (9*3+7)-(8*1). Use the tools, then call answer with the result."}}}
}

func exampleExpiry() time.Time { return time.Date(2026, 1, 2, 3, 34, 5, 0, time.UTC) }

func exampleState() client.State {
	return client.State{ID: "K5LDRAOTSTK5QBF3NI4PWEVC7C", Task: exampleTask(), Observation: json.RawMessage(`{"expression":"(9*3+7)-(8*1)"}`),
		Tools: tools.Set{exampleTool()}, ExpiresAt: exampleExpiry()}
}

func exampleStep() tools.Step {
	return tools.Transition(tools.Call{Name: "multiply", Arguments: json.RawMessage(`{"a":9,"b":3}`)}, tools.Result{Content: json.RawMessage(`{"result":27}`)}, 0)
}

func exampleAnswer() client.Answer { return answerOf(exampleStep(), 1) }

func examplePlayed() client.State {
	state := exampleState()
	state.Step = 1
	state.Trajectory = &tools.Trajectory{Task: state.Task, Observation: state.Observation, Steps: []tools.Step{exampleStep()}}
	return state
}

func exampleSummary() client.Summary {
	return client.Summary{ID: "K5LDRAOTSTK5QBF3NI4PWEVC7C", TaskID: "arithmetic/2/17", Step: 1, ExpiresAt: exampleExpiry()}
}

// exampleScores is a group of two completions of one task, and their scores.
func exampleScores() (grpo.Request, grpo.Response) {
	right, wrong := "<tool_call>\n{\"name\": \"multiply\", \"arguments\": {\"a\": 9, \"b\": 3}}\n</tool_call>", "It is 27."
	request := grpo.Request{Groups: []grpo.Group{{
		ID: "g1", Tools: tools.Set{exampleTool()},
		Expected:    &match.Expected{Calls: []match.Call{{Name: "multiply", Arguments: json.RawMessage(`{"a":9,"b":3}`)}}},
		Completions: []grpo.Completion{{Text: &right, Family: parse.Hermes, FinishReason: "stop"}, {Text: &wrong, Family: parse.Hermes, FinishReason: "stop"}},
	}}}
	return request, scored(request)
}

// exampleLines is a line of a scoring file and its score.
func exampleLines() (grpo.Line, grpo.ScoredLine) {
	request, response := exampleScores()
	group, score := request.Groups[0], response.Groups[0].Completions[0]
	return grpo.Line{Group: group.ID, Tools: group.Tools, Expected: group.Expected, Completion: group.Completions[0]},
		grpo.ScoredLine{Group: group.ID, Reward: score.Reward, Valid: score.Valid, Failure: score.Failure, Advantage: score.Advantage,
			Success: score.Success, Criteria: score.Criteria, Defects: score.Defects, Tier: score.Tier}
}

// exampleRewards is what OpenRLHF asks, and its answer.
func exampleRewards() (dialect.RewardQuery, dialect.Rewards) {
	query := dialect.RewardQuery{
		Query: []string{"<|im_start|>user\nThank you!<|im_end|>\n<|im_start|>assistant\nYou are welcome!<|im_end|>"}, Prompts: []string{"<|im_start|>user\nThank you!<|im_end|>\n<|im_start|>assistant\n"},
		Labels: []string{`{"tools":[],"expected":{"calls":[]}}`},
	}
	sent, err := dialect.OpenRLHF(query, &intake.Desk{})
	if err != nil {
		panic("api: the example of rewards is wrong: " + err.Error())
	}
	rewards, err := sent.Rewards(scored(sent.Request))
	if err != nil {
		panic("api: the example of rewards is wrong: " + err.Error())
	}
	return query, rewards
}

// scored scores an example.
func scored(request grpo.Request) grpo.Response {
	scorer, err := grpo.NewScorer(nil, grpo.DefaultRubric())
	if err == nil {
		var response grpo.Response
		if response, err = scorer.Score(context.Background(), request); err == nil {
			return response
		}
	}
	panic("api: an example cannot be scored: " + err.Error())
}

func exampleRun() training.State {
	return training.State{ID: "7XJ3T4ZQ", State: training.Running, Created: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), Updates: 120,
		Config: train.Config{Env: "arithmetic", Levels: []string{"0", "1", "2"}, Rules: tools.Sound, Curriculum: train.Mastery, Algorithm: train.GRPO, Updates: 4000,
			Network: policy.Default(policy.UpdateGRPO, policy.PoolOrdered, arithmetic.NewEnumerator().Vocabulary())}}
}

// A manual is the OpenAPI document as docs.html shows it.
type manual struct {
	Version    string
	Operations []manualOperation
	Schemas    []manualSchema
}

type manualOperation struct {
	ID, Method, Path, Summary, Text string
	Parameters                      []*huma.Param
	Body, Request                   string // name of the schema, example
	Status                          int
	Reply, Answer                   string // name of the schema, example
	Refusals                        []string
}

type manualSchema struct {
	Name   string
	Fields []manualField
}

type manualField struct {
	Name, Type, Link, Text string
	Required               bool
}

func manualOf(doc *huma.OpenAPI) manual {
	m := manual{Version: doc.Info.Version}
	for _, path := range slices.Sorted(maps.Keys(doc.Paths)) {
		item := doc.Paths[path]
		for _, op := range []*huma.Operation{item.Get, item.Post, item.Delete} {
			if op != nil {
				m.Operations = append(m.Operations, operationOf(op))
			}
		}
	}
	schemas := doc.Components.Schemas.Map()
	for _, name := range slices.Sorted(maps.Keys(schemas)) {
		m.Schemas = append(m.Schemas, manualSchema{name, fieldsOf(schemas[name])})
	}
	return m
}

func operationOf(op *huma.Operation) manualOperation {
	m := manualOperation{ID: op.OperationID, Method: op.Method, Path: op.Path, Summary: op.Summary, Text: op.Description,
		Parameters: op.Parameters, Status: op.DefaultStatus}
	if op.RequestBody != nil {
		m.Body, m.Request = exampleOf(op.RequestBody.Content)
	}
	success := strconv.Itoa(op.DefaultStatus)
	m.Reply, m.Answer = exampleOf(op.Responses[success].Content)
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		if status != success {
			m.Refusals = append(m.Refusals, status)
		}
	}
	return m
}

func exampleOf(content map[string]*huma.MediaType) (schema, example string) {
	media := content["application/json"]
	if media == nil {
		media = content[linesType]
	}
	if media == nil {
		return "", ""
	}
	text, err := json.MarshalIndent(media.Example, "", "  ")
	if err != nil {
		return "", ""
	}
	return strings.TrimPrefix(media.Schema.Ref, schemaPrefix), string(text)
}

func fieldsOf(schema *huma.Schema) []manualField {
	var fields []manualField
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		property := schema.Properties[name]
		field := manualField{Name: name, Text: property.Description, Required: slices.Contains(schema.Required, name)}
		field.Type, field.Link = typeOf(property)
		fields = append(fields, field)
	}
	return fields
}

// typeOf names a type, and the schema that says more.
func typeOf(schema *huma.Schema) (name, link string) {
	switch {
	case schema.Ref != "":
		name = strings.TrimPrefix(schema.Ref, schemaPrefix)
		return name, name
	case schema.Type == huma.TypeArray:
		name, link = typeOf(schema.Items)
		return "list of " + name, link
	case len(schema.AnyOf) == 2 && schema.AnyOf[1].Type == "null":
		name, link = typeOf(schema.AnyOf[0])
		return name + " or null", link
	case schema.Type == "":
		return "any", ""
	}
	return schema.Type, ""
}
