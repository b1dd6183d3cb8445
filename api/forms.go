package api

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"toolgym/api/dialect/trl"
	"toolgym/grpo"
	"toolgym/grpo/match"
	"toolgym/grpo/objective"
	"toolgym/grpo/parse"
	"toolgym/tools"
)

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
