package rollout

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"toolgym/grpo/parse"
	"toolgym/internal/modelserver"
	"toolgym/tools"
)

// A Model describes a model of an Ollama server.
type Model struct {
	Name         string   `json:"name"`
	Digest       string   `json:"digest"`
	Server       string   `json:"server"`  // address
	Version      string   `json:"version"` // of the server
	Template     string   `json:"-"`
	TemplateHash string   `json:"template_hash"`
	Capabilities []string `json:"capabilities"`
	Tools        bool     `json:"tools"`    // native tool calling
	Thinking     bool     `json:"thinking"` // marked reasoning
	Context      int      `json:"context"`  // context length of the model in tokens; 0 means unknown
	Parser       string   `json:"parser,omitempty"`
	Size         int64    `json:"size"` // bytes
	Parameters   string   `json:"parameters,omitempty"`
}

// probeTimeout is the time limit of a request for models.
const probeTimeout = 30 * time.Second

// mostModels is the maximum number of models that a server may list.
const mostModels = 10_000

// some lists the first names and the number of further ones.
func some(names []string) string {
	const most = 20
	if len(names) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}

// Probe asks the server about the model, so that a run can be refused before
// its first trial. The [*tools.Error] says what to do.
func (c Config) Probe(ctx context.Context) (Model, error) {
	models, err := c.Models(ctx)
	if err != nil {
		return Model{}, err
	}
	for _, m := range models {
		if m.Name == c.Model || m.Name == c.Model+":latest" {
			err := c.show(ctx, &m)
			return m, err
		}
	}
	names := make([]string, len(models))
	for i, m := range models {
		names[i] = m.Name
	}
	want := "a model of the server (ollama pull or ollama create first)"
	if len(names) > 0 {
		want = fmt.Sprintf("one of %s, or ollama pull first", some(names))
	}
	return Model{}, &tools.Error{Code: tools.Unavailable, Where: "model", Message: fmt.Sprintf("the server at %s does not have the model %q", modelserver.Display(c.URL), c.Model), Want: want}
}

// Models lists the models of the server, without the fields that only Probe
// asks for.
func (c Config) Models(ctx context.Context) ([]Model, error) {
	if err := ValidateURL(c.URL); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	var version struct {
		Version string `json:"version"`
	}
	if err := c.get(ctx, "/api/version", &version); err != nil {
		return nil, err
	}
	var listed struct {
		Models []struct {
			Name   string `json:"name"`
			Digest string `json:"digest"`
			Size   int64  `json:"size"`
		} `json:"models"`
	}
	if err := c.get(ctx, "/api/tags", &listed); err != nil {
		return nil, err
	}
	if len(listed.Models) > mostModels {
		return nil, c.unreachable(fmt.Errorf("/api/tags lists %d models; expected at most %d", len(listed.Models), mostModels))
	}
	models := make([]Model, len(listed.Models))
	for i, m := range listed.Models {
		models[i] = Model{Name: m.Name, Digest: "sha256:" + strings.TrimPrefix(m.Digest, "sha256:"), Server: modelserver.Display(c.URL), Version: version.Version, Size: m.Size, Capabilities: []string{}}
	}
	return models, nil
}

// Describe lists the models with all fields.
func (c Config) Describe(ctx context.Context) ([]Model, error) {
	models, err := c.Models(ctx)
	if err != nil {
		return nil, err
	}
	for i := range models {
		if err := c.show(ctx, &models[i]); err != nil {
			return nil, err
		}
	}
	return models, nil
}

// show sets the fields of /api/show.
func (c Config) show(ctx context.Context, m *Model) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	r, err := c.post(ctx, "/api/show", map[string]string{"model": m.Name}, "")
	if err != nil {
		return c.unreachable(err)
	}
	if r.Error != "" {
		return &tools.Error{Code: tools.Unavailable, Where: "model", Message: fmt.Sprintf("the server at %s cannot show the model %q: %s", modelserver.Display(c.URL), m.Name, r.Error), Want: "another model"}
	}
	var shown struct {
		Template     string                     `json:"template"`
		Parser       string                     `json:"parser"`
		Parameters   string                     `json:"parameters"`
		Capabilities []string                   `json:"capabilities"`
		ModelInfo    map[string]json.RawMessage `json:"model_info"`
	}
	if err := json.Unmarshal(r.Body, &shown); err != nil {
		return c.unreachable(fmt.Errorf("reading /api/show: %w", err))
	}
	sum := sha256.Sum256([]byte(shown.Template))
	m.Template, m.TemplateHash, m.Parser, m.Parameters = shown.Template, "sha256:"+hex.EncodeToString(sum[:]), shown.Parser, shown.Parameters
	m.Capabilities = append(m.Capabilities, shown.Capabilities...)
	m.Tools, m.Thinking = slices.Contains(m.Capabilities, "tools"), slices.Contains(m.Capabilities, "thinking")
	if shown.Capabilities == nil { // not reported: native calling needs a template that uses tools
		m.Tools = strings.Contains(shown.Template, ".Tools")
	}
	for key, value := range shown.ModelInfo {
		if strings.HasSuffix(key, ".context_length") {
			_ = json.Unmarshal(value, &m.Context) // an invalid value means unknown
		}
	}
	return nil
}

// get requests one of the server's descriptions.
func (c Config) get(ctx context.Context, path string, into any) error {
	r, err := c.do(ctx, http.MethodGet, path, nil, "")
	switch {
	case err != nil:
		return c.unreachable(err)
	case r.Error != "":
		return c.unreachable(fmt.Errorf("%s answers: %s", path, r.Error))
	}
	if err := json.Unmarshal(r.Body, into); err != nil {
		return c.unreachable(fmt.Errorf("%s does not answer like Ollama", path))
	}
	return nil
}

// unreachable is the error if no Ollama server answers at the address.
func (c Config) unreachable(err error) error {
	want := "a running server (ollama serve), or the address of another"
	switch text := err.Error(); {
	case strings.Contains(text, "server gave HTTP response to HTTPS client"):
		want = "http:// in place of https://"
	case strings.Contains(text, "HTTP request to an HTTPS server"):
		want = "https:// in place of http://"
	}
	return &tools.Error{Code: tools.Unavailable, Where: "ollama", Message: fmt.Sprintf("no Ollama server answers at %s (%v)", modelserver.Display(c.URL), err), Want: want}
}

// FamilyHint guesses from a model's template how it writes calls. It is a hint
// for users: grading uses auto unless a family is given.
func FamilyHint(template string) parse.Family {
	for _, known := range []struct {
		mark   string
		family parse.Family
	}{
		{"<function=", parse.Qwen3Coder}, {"<tool_call>", parse.Hermes}, {"[TOOL_CALLS]", parse.Mistral}, {"<|python_tag|>", parse.Llama3JSON},
		{"functools[", parse.Phi4Mini}, {"<|tool_call|>", parse.Granite}, {"<|tool_call_start|>", parse.LFM2}, {"<|START_ACTION|>", parse.Command},
		{"<|channel|>", parse.Harmony}, {"<｜tool▁calls▁begin｜>", parse.DeepSeekR1}, {"<|tool_calls_section_begin|>", parse.KimiK2},
		{"<start_function_call>", parse.FunctionGemma}, {"<|tool_call>", parse.Gemma4}, {`"parameters":`, parse.Llama3JSON},
	} {
		if strings.Contains(template, known.mark) {
			return known.family
		}
	}
	return parse.Auto
}
