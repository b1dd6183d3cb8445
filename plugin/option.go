package plugin

import (
	"encoding/json"
	"maps"
	"math"

	"github.com/tmc/langchaingo/llms"
)

// Extra is what Ollama can do for one request and langchaingo has no option
// for. [With] makes a call option of it.
type Extra struct {
	Format      json.RawMessage // a JSON Schema that constrains the answer
	Logprobs    bool            // log-probabilities of the generated tokens, in GenerationInfo["Logprobs"]
	TopLogprobs int             // and of so many alternatives for each, at most 20
	Options     map[string]any  // options by Ollama's names, such as num_ctx and min_p
}

// extraKey is where an Extra travels in llms.CallOptions.
const extraKey = "toolgym_ollama"

// With hands an [Extra] to a [Model]. Other models do not look at it. It stands
// in the options' metadata: put it after llms.WithMetadata, which replaces all.
func With(extra Extra) llms.CallOption {
	return func(o *llms.CallOptions) {
		metadata := maps.Clone(o.Metadata)
		if metadata == nil {
			metadata = map[string]any{}
		}
		metadata[extraKey] = extra
		o.Metadata = metadata
	}
}

// fractions are the options that are no whole numbers, by Ollama's names.
func fractions(o *llms.CallOptions) map[string]*float64 {
	return map[string]*float64{
		"temperature": &o.Temperature, "top_p": &o.TopP, "repeat_penalty": &o.RepetitionPenalty,
		"frequency_penalty": &o.FrequencyPenalty, "presence_penalty": &o.PresencePenalty,
	}
}

// counts are the options that are whole numbers, by Ollama's names.
func counts(o *llms.CallOptions) map[string]*int {
	return map[string]*int{"num_predict": &o.MaxTokens, "top_k": &o.TopK, "seed": &o.Seed}
}

// foreign are the whole numbers that Ollama has no option for.
func foreign(o *llms.CallOptions) map[string]*int {
	return map[string]*int{"MinLength": &o.MinLength, "MaxLength": &o.MaxLength, "N": &o.N, "CandidateCount": &o.CandidateCount}
}

// An llms.CallOption can not say "unset", and zero is a temperature and a seed
// like any other. So the options are applied to numbers that nobody asks for,
// and what still has one of these afterwards was left alone.
const noCount = math.MinInt

func noFraction() float64 { return math.Inf(-1) }

// empty turns every number that is equal to zero into an unset one.
func empty(o *llms.CallOptions) {
	for _, f := range fractions(o) {
		if *f == 0 {
			*f = noFraction()
		}
	}
	for _, numbers := range []map[string]*int{counts(o), foreign(o)} {
		for _, n := range numbers {
			if *n == 0 {
				*n = noCount
			}
		}
	}
}

// applied applies the options in order.
func applied(options []llms.CallOption) llms.CallOptions {
	var all llms.CallOptions
	empty(&all)
	for _, option := range options {
		least, most := all.MinLength, all.MaxLength
		all.MinLength, all.MaxLength = noCount, noCount
		option(&all)
		switch {
		case all.MinLength != noCount && all.MaxLength != noCount:
			empty(&all) // llms.WithOptions replaced every field: zeros were not asked for
		case all.MinLength == noCount && all.MaxLength == noCount:
			all.MinLength, all.MaxLength = least, most
		case all.MinLength == noCount:
			all.MinLength = least
		default:
			all.MaxLength = most
		}
	}
	return all
}

// ollamaOptions are those that were asked for, by Ollama's names, over the
// base.
func ollamaOptions(base map[string]any, o llms.CallOptions) (map[string]any, error) {
	for name, n := range foreign(&o) {
		one := *n == 1 && (name == "N" || name == "CandidateCount")
		if *n != noCount && !one {
			return nil, unsupported("Ollama has no option %s: it gives one answer a request, bounded in tokens", name)
		}
	}
	asked := maps.Clone(base)
	for name, f := range fractions(&o) {
		if *f != noFraction() {
			asked[name] = *f
		}
	}
	for name, n := range counts(&o) {
		if *n != noCount {
			asked[name] = *n
		}
	}
	if len(o.StopWords) > 0 {
		asked["stop"] = o.StopWords
	}
	return asked, nil
}
