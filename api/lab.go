package api

import (
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/labstack/echo/v4"

	"toolgym/api/assessment"
	"toolgym/api/dialect/trl"
	"toolgym/api/lab"
	"toolgym/grpo"
	"toolgym/grpo/eval"
	"toolgym/grpo/eval/report"
	"toolgym/grpo/match"
	"toolgym/grpo/objective"
	"toolgym/grpo/parse"
	"toolgym/grpo/rollout"
	"toolgym/internal/evaluation"
	"toolgym/internal/modelserver"
	"toolgym/tools"
)

// labRoutes adds the pages of the lab. They are not in the document: programs
// have the resources that the pages use.
func (s *Server) labRoutes() error {
	var err error
	s.lab, err = lab.New(lab.Config{Specs: s.config.Specs, Scorer: s.scorer, Desk: &s.desk, MaxBody: s.config.MaxBody, CallTimeout: s.config.CallTimeout, Rubric: *s.config.Rubric, Runs: s.runs, Evals: s.labEvaluations(),
		Ollama: s.config.Ollama, Logger: s.config.Logger, Judged: s.logScores, Checkpoint: s.config.Checkpoint, Now: s.config.Now, Guarded: len(s.config.Tokens) > 0, Stopping: s.stopping,
		Events: s.shares.events, Share: s.config.TokenShare, Idle: s.config.StreamTimeout,
		Turn:  s.labTurn,
		Owner: func(ctx context.Context) string { return exchangeOf(ctx).caller.name },
		Owns:  func(ctx context.Context, owner string) bool { return exchangeOf(ctx).caller.owns(owner) }})
	if err != nil {
		return err
	}
	for _, route := range s.lab.Routes() {
		path := regexp.MustCompile(`\{(\w+)\}`).ReplaceAllString(route.Path, ":$1")
		s.echo.Add(route.Method, path, s.weighedForm(s.page(route)))
	}
	if len(s.config.Tokens) > 0 {
		s.signInRoutes(s.lab)
	}
	return nil
}

// labTurn gives a page that computes its turn.
func (s *Server) labTurn(ctx context.Context) (end func(), err error) {
	turn := s.newTurn(ctx, s.config.CallTimeout)
	return turn.End, turn.Begin(ctx)
}

// page serves a route of the lab: who has no token yet is sent to the page that
// asks for one, and a refusal is a page as well, for those who read pages.
func (s *Server) page(route lab.Route) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		who := exchangeOf(r.Context()).caller
		if refusal := refusalOf(who, route.Role); refusal != nil {
			if refusal.Status == http.StatusUnauthorized && readsPages(r) {
				return c.Redirect(http.StatusSeeOther, "/lab/signin?next="+url.QueryEscape(r.URL.RequestURI()))
			}
			return s.showFailure(c, refusal)
		}
		for i, name := range c.ParamNames() {
			r.SetPathValue(name, c.ParamValues()[i])
		}
		err := route.Serve(c.Response(), r)
		if err == nil {
			return nil
		}
		if f := failureOf(nil, err); f != nil {
			return s.showFailure(c, f)
		}
		if errors.Is(err, context.DeadlineExceeded) && !hungUp(r.Context()) {
			return s.showFailure(c, fail(http.StatusServiceUnavailable, "the environment took too long").after(time.Second))
		}
		return err
	}
}

// readsPages reports whether a request comes from somebody who looks at its
// answer, and not from a script, which asks for problem documents.
func readsPages(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, "text/html") && !strings.Contains(accept, problemType)
}

// showFailure writes a refusal as a page, for those who read pages.
func (s *Server) showFailure(c echo.Context, f *failure) error {
	if !readsPages(c.Request()) {
		return f
	}
	if f.fault != nil {
		exchangeOf(c.Request().Context()).fault = f.fault
	}
	maps.Copy(c.Response().Header(), f.header)
	detail := f.Detail
	if len(f.Errors) == 1 {
		detail = strings.TrimPrefix(f.Errors[0].Pointer, "#/") + f.Errors[0].Parameter + ": " + detail
	}
	return s.lab.Fail(c.Response(), c.Request(), f.Status, detail)
}

// labEvals are the evaluations as the lab's pages have them: what the routes
// under /v1/evals answer, to the same callers, and nothing else.
type labEvals struct{ server *Server }

var _ lab.Evaluations = labEvals{}

// labEvaluations is nil for a server that keeps none.
func (s *Server) labEvaluations() lab.Evaluations {
	if s.evals == nil {
		return nil
	}
	return labEvals{s}
}

func (e labEvals) List(ctx context.Context) ([]assessment.State, error) {
	answer, err := e.server.listEvals(ctx, nil)
	if err != nil {
		return nil, err
	}
	return answer.Body.Evals, nil
}

func (e labEvals) Find(ctx context.Context, name string) (assessment.State, error) {
	answer, err := e.server.getEval(ctx, &evalPath{ID: name})
	if err != nil {
		return assessment.State{}, err
	}
	return answer.Body, nil
}

func (e labEvals) Begin(ctx context.Context, request evaluation.Request) (assessment.State, error) {
	answer, err := e.server.beginEval(ctx, &evalInput{Sent: body[evaluation.Request]{value: request}})
	if err != nil {
		return assessment.State{}, err
	}
	return answer.Body, nil
}

// Stop leaves alone what has just ended, which Cancel would delete.
func (e labEvals) Stop(ctx context.Context, name string) error {
	if _, err := e.server.findEval(ctx, name); err != nil {
		return err
	}
	e.server.evals.Stop(name)
	return nil
}

func (e labEvals) Cancel(ctx context.Context, name string) error {
	_, err := e.server.cancelEval(ctx, &evalPath{ID: name})
	return err
}

func (e labEvals) Report(ctx context.Context, name string, patience time.Duration) (report.Report, bool, error) {
	if _, err := e.server.findEval(ctx, name); err != nil {
		return report.Report{}, false, err
	}
	return e.server.beside.Report(ctx, e.server.evaluationRoom(), name, patience)
}

func (e labEvals) Compare(ctx context.Context, first, second string) (eval.Comparison, error) {
	answer, err := e.server.compareEvals(ctx, &comparePath{ID: first, With: second})
	if err != nil {
		return eval.Comparison{}, err
	}
	return answer.Body, nil
}

//go:embed page
var pageFiles embed.FS

// pages adds what a person or a generator reads: the document and its readable
// form. They load nothing from elsewhere and run no script.
func (s *Server) pages() error {
	text, err := json.MarshalIndent(s.api.OpenAPI(), "", " ")
	if err != nil {
		return fmt.Errorf("writing the OpenAPI document: %w", err)
	}
	templates, err := template.ParseFS(pageFiles, "page/*.html")
	if err != nil {
		return fmt.Errorf("reading the pages: %w", err)
	}
	var docs bytes.Buffer
	if err := templates.ExecuteTemplate(&docs, "docs.html", manualOf(s.api.OpenAPI())); err != nil {
		return fmt.Errorf("writing the documentation: %w", err)
	}
	style, err := pageFiles.ReadFile("page/style.css")
	if err != nil {
		return fmt.Errorf("reading the pages: %w", err)
	}
	s.echo.GET("/openapi.json", static("application/json", text))
	s.echo.GET("/docs", static("text/html; charset=utf-8", docs.Bytes()))
	s.echo.GET("/docs/style.css", static("text/css; charset=utf-8", style))
	return nil
}

// secure sets what keeps a page from loading, framing or sending anything.
func secure(header http.Header) {
	header.Set("Content-Security-Policy", "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	header.Set("Referrer-Policy", "no-referrer")
}

func static(kind string, text []byte) echo.HandlerFunc {
	return func(c echo.Context) error {
		secure(c.Response().Header())
		return c.Blob(http.StatusOK, kind, text)
	}
}

// The JSON forms of the types that read or write themselves, as the OpenAPI
// document shows them and bodies are checked against them. Reflection would show
// the Go fields instead.

func registerForms(registry huma.Registry) {
	for _, form := range [][2]reflect.Type{
		{reflect.TypeFor[tools.Tool](), reflect.TypeFor[toolForm]()},
		{reflect.TypeFor[parse.Family](), reflect.TypeFor[familyForm]()},
		{reflect.TypeFor[objective.Config](), reflect.TypeFor[lossForm]()},
		{reflect.TypeFor[match.Expected](), reflect.TypeFor[expectedForm]()},
		{reflect.TypeFor[parse.Failure](), reflect.TypeFor[blameForm]()},
		{reflect.TypeFor[grpo.Criteria](), reflect.TypeFor[map[string]criterionForm]()},
		{reflect.TypeFor[trl.LoRA](), reflect.TypeFor[adaptersForm]()},
	} {
		registry.RegisterTypeAlias(form[0], form[1])
	}
}

// toolForm is a tool as servers write it, and as requests may: the function with
// or without the outer object.
type toolForm struct {
	Type     string        `json:"type,omitempty" enum:"function"`
	Function *toolFunction `json:"function,omitempty"`

	Name        string         `json:"name,omitempty" doc:"In a request, where function is left out."`
	Description string         `json:"description,omitempty" doc:"In a request, where function is left out."`
	Parameters  map[string]any `json:"parameters,omitempty" nullable:"true" doc:"In a request, where function is left out."`
	Strict      bool           `json:"strict,omitempty" doc:"In a request; changes nothing."`
}

type toolFunction struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Parameters  map[string]any `json:"parameters,omitempty" nullable:"true" doc:"The JSON Schema of the arguments, draft 2020-12. Without one the tool takes no arguments."`
	Strict      bool           `json:"strict,omitempty" doc:"In a request; changes nothing."`
}

// familyForm is a family's name.
type familyForm struct{}

// Schema lists the names.
func (familyForm) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString, Description: "A way of writing calls; auto, the default, takes that of the first opener."}
	for _, family := range parse.Families() {
		s.Enum = append(s.Enum, string(family))
	}
	s.Enum = append(s.Enum, "") // as if it were left out
	return s
}

// blameForm is a failure, which is null where a completion is scored.
type blameForm struct{}

// Schema admits an object or null.
func (blameForm) Schema(huma.Registry) *huma.Schema {
	text := func(names ...any) *huma.Schema { return &huma.Schema{Type: huma.TypeString, Enum: names} }
	return &huma.Schema{
		Type: huma.TypeObject, Nullable: true, AdditionalProperties: false, Required: []string{"kind", "reason"},
		Description: "Why there is no reward: something other than the model failed.",
		Properties:  map[string]*huma.Schema{"kind": text(grpo.FailureServing, grpo.FailureHarness, grpo.FailureInfrastructure), "reason": text()},
	}
}

// adaptersForm is the configuration of adapters, null where there are none.
type adaptersForm struct{}

// Schema admits the object or null.
func (adaptersForm) Schema(r huma.Registry) *huma.Schema {
	type object trl.LoRA // without its alias
	schema := huma.SchemaFromType(r, reflect.TypeFor[object]())
	schema.Nullable = true
	return schema
}

type lossForm struct {
	Type                string  `json:"type,omitempty" enum:"grpo,bnpo,dr_grpo,dapo" doc:"Default dapo."`
	Epsilon             float64 `json:"epsilon,omitempty" minimum:"0" doc:"The ratio is clipped at 1−ε; default 0.2."`
	EpsilonHigh         float64 `json:"epsilon_high,omitempty" nullable:"true" minimum:"0" doc:"And at 1+ε; default epsilon."`
	Beta                float64 `json:"beta,omitempty" minimum:"0" doc:"Weight of the divergence from the reference; default 0.05."`
	KL                  string  `json:"kl,omitempty" enum:"k1,k2,k3" doc:"Its estimator; default k3."`
	Level               string  `json:"level,omitempty" enum:"token,sequence" doc:"Of the ratio; default token."`
	MaxCompletionLength int     `json:"max_completion_length,omitempty" minimum:"0" doc:"In tokens; what dr_grpo divides by."`
}

type expectedForm struct {
	Calls  []expectedCallForm     `json:"calls,omitempty" doc:"The right calls. Left out, they do not matter; empty, none may be made."`
	Order  bool                   `json:"order,omitempty" doc:"They must come in this order."`
	Extra  string                 `json:"extra,omitempty" enum:"forbid,divide,allow" doc:"What becomes of calls beside them; default forbid."`
	Match  map[string]matcherForm `json:"match,omitempty" doc:"How arguments are compared, by their names; default exactly."`
	Answer *answerForm            `json:"answer,omitempty"`
}

type expectedCallForm struct {
	Name      string                 `json:"name"`
	Arguments map[string]any         `json:"arguments,omitempty"`
	Match     map[string]matcherForm `json:"match,omitempty" doc:"Goes before the match around it."`
}

type matcherForm struct {
	Tolerance float64 `json:"tolerance,omitempty" minimum:"0" doc:"Largest difference of numbers."`
	Any       bool    `json:"any,omitempty" doc:"Every value is right."`
	OneOf     []any   `json:"one_of,omitempty" doc:"Further right values."`
	Casefold  bool    `json:"casefold,omitempty" doc:"Strings are compared without regard to case."`
	Set       bool    `json:"set,omitempty" doc:"Lists are compared without regard to order and repetition."`
	Optional  bool    `json:"optional,omitempty" doc:"Its absence is right as well."`
}

// answerForm is the expected answer.
type answerForm struct{}

// Schema admits the value, or an object of the value and how it is compared.
func (answerForm) Schema(r huma.Registry) *huma.Schema {
	type comparison struct {
		Value     any     `json:"value"`
		Tolerance float64 `json:"tolerance,omitempty" minimum:"0"`
		OneOf     []any   `json:"one_of,omitempty"`
		Casefold  bool    `json:"casefold,omitempty"`
	}
	return &huma.Schema{
		Description: "What the model has to say last: a text, a number, or an object of the value and a matcher's fields.",
		AnyOf:       []*huma.Schema{{Type: huma.TypeString}, {Type: huma.TypeNumber}, huma.SchemaFromType(r, reflect.TypeFor[comparison]())},
	}
}

type criterionForm struct {
	Value  *float64 `json:"value" doc:"Null when it could not be worked out."`
	Weight float64  `json:"weight"`
	Reward *float64 `json:"reward" doc:"Value times weight."`
	Error  string   `json:"error,omitempty" doc:"Why it could not be worked out."`
}

// scriptType is the media type of Python programs.
const scriptType = "text/x-python"

func (s *Server) trainerRoutes() {
	handle(s, route{id: "export-trl", method: http.MethodPost, path: "/v1/export/trl", tag: "scores", role: Score,
		refusals: []int{http.StatusNotFound},
		summary:  "A training script with the configured reward",
		text: "A Python program that trains a model with Hugging Face TRL's GRPOTrainer on tasks of an environment, and has its completions scored by POST /v1/score. " +
			"It sets the arguments that the installed GRPOConfig has, and prints which it left out. Every field may be absent. " +
			"A token stands nowhere in it: it is read from the variable TOOLGYM_TOKEN.",
		request: trl.Default(),
	}, s.exportTRL)
	answer := s.api.OpenAPI().Paths["/v1/export/trl"].Post.Responses["200"]
	answer.Description = "The script."
	answer.Content = map[string]*huma.MediaType{scriptType: {Schema: &huma.Schema{Type: huma.TypeString}, Example: "#!/usr/bin/env python3\n…"}}
}

type trainerOrder struct{ Sent body[trl.Settings] }

// A script is an answer that is a file.
type script struct {
	ContentType string `header:"Content-Type"`
	Disposition string `header:"Content-Disposition"`
	Body        []byte
}

func (s *Server) exportTRL(_ context.Context, in *trainerOrder) (*script, error) {
	settings := in.Sent.value
	spec, err := s.config.Specs.Lookup(settings.Env)
	if err != nil {
		return nil, err
	}
	if _, err := spec.Task(settings.Rules, settings.Level, settings.Seed); err != nil {
		return nil, err
	}
	text, err := settings.Script()
	if err != nil {
		return nil, err
	}
	return &script{scriptType + "; charset=utf-8", `attachment; filename="` + trl.ScriptName + `"`, text}, nil
}

// A servedModel is a model of an Ollama server, and how it seems to write calls.
type servedModel struct {
	rollout.Model
	Family parse.Family `json:"family_hint"`
}

// modelList is the answer of GET /v1/models.
type modelList struct {
	Models      []servedModel `json:"models"`
	Unreachable []string      `json:"unreachable" doc:"The servers that did not answer."`
}

func (s *Server) modelRoutes() {
	handle(s, route{id: "list-models", method: http.MethodGet, path: "/v1/models", tag: "evaluations",
		summary: "The models of the Ollama servers", text: "Those of the servers that this one was started with: what they were made for, and how they seem to write calls.",
		answer: modelList{Models: []servedModel{{rollout.Model{Name: "llama3.2:3b", Digest: "sha256:a80c4f17acd5", Server: "http://127.0.0.1:11434", Version: "0.17.4",
			Capabilities: []string{"completion", "tools"}, Tools: true, Context: 131072, Size: 2019393189}, parse.Llama3JSON}}, Unreachable: []string{}}}, s.listModels)
}

func (s *Server) listModels(ctx context.Context, _ *struct{}) (*reply[modelList], error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	list := modelList{Models: []servedModel{}, Unreachable: []string{}}
	for _, address := range s.config.Ollama {
		models, err := rollout.Config{URL: address}.Describe(ctx)
		if err != nil {
			s.config.Logger.Warn("an Ollama server does not answer", "server", modelserver.Display(address), "error", err)
			list.Unreachable = append(list.Unreachable, modelserver.Display(address))
			continue
		}
		for _, m := range models {
			list.Models = append(list.Models, servedModel{m, rollout.FamilyHint(m.Template)})
		}
	}
	return answered(list), nil
}
