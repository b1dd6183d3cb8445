package parse

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"toolgym/tools"
)

// Span is a range of bytes of the text that was read, text[Start:End]. For a
// structured call the text is the message's body; a stream has no single text,
// and its calls have empty spans.
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Attempt is one try at a call, whether it succeeded or not.
type Attempt struct {
	Family    Family          `json:"family"` // whose form it is in
	Tier      Tier            `json:"tier"`
	Status    Status          `json:"status"`
	Defects   []Defect        `json:"defects"`
	ID        string          `json:"id,omitempty"` // where the form carries one
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`     // the decoded object, null when there is none
	Raw       string          `json:"raw_arguments"` // as the model wrote them
	Span      Span            `json:"span"`

	SchemaValid      *bool             `json:"schema_valid"` // null for an attempt that does not count
	Violations       []tools.Violation `json:"violations"`
	Coercible        bool              `json:"coercible"`
	UnknownArguments []string          `json:"unknown_arguments"`

	// Value is Arguments as [strictjson.Decode] reads them, so that no caller
	// has to decode them again.
	Value map[string]any `json:"-"`
}

// Counts reports whether the attempt counts as a call.
func (a Attempt) Counts() bool { return a.Tier != None }

// Call is the attempt as a call.
func (a Attempt) Call() tools.Call { return tools.Call{Name: a.Name, Arguments: a.Arguments} }

// Has reports whether the attempt has the defect.
func (a Attempt) Has(d Defect) bool { return has(a.Defects, d) }

// Failure says that a completion cannot be held against the model.
type Failure struct {
	Kind   string `json:"kind"` // serving, harness or infrastructure
	Reason string `json:"reason"`
}

// Reading is what was found in one completion.
type Reading struct {
	Family      Family       `json:"family"` // the family taken; auto when none was
	Tier        Tier         `json:"tier"`
	FormatOK    bool         `json:"format_ok"`
	SchemaValid *bool        `json:"schema_valid"` // null without calls
	Calls       []tools.Call `json:"calls"`        // those that count, in order
	Attempts    []Attempt    `json:"attempts"`
	Content     string       `json:"content"`   // what the user sees
	Reasoning   string       `json:"reasoning"` // what the user does not see
	Defects     []Defect     `json:"defects"`   // all of them, each once
	Failure     *Failure     `json:"failure,omitempty"`

	// Hidden is where Reasoning stands in a text, and MadeUp what is not read of
	// it: all from the first result on that the model made up. Both are for
	// people who look at the text, and empty where there is no single one.
	Hidden []Span `json:"-"`
	MadeUp Span   `json:"-"`
}

// Has reports whether the completion, or one of its attempts, has the defect.
func (r Reading) Has(d Defect) bool { return has(r.Defects, d) }

func has(list []Defect, d Defect) bool { return slices.Contains(list, d) }

// with adds defects that are not there yet.
func with(list []Defect, more ...Defect) []Defect {
	for _, d := range more {
		if !has(list, d) {
			list = append(list, d)
		}
	}
	return list
}

// Tier says how well a call, or a whole completion, is written.
type Tier string

// The tiers, from best to worst. Answer is the tier of a completion that
// attempts no call.
const (
	Strict   Tier = "strict"   // the family's native form, nothing mended
	Envelope Tier = "envelope" // a strictly valid payload; wrapper, separators, fence or closer are off
	Syntax   Tier = "syntax"   // an unambiguous misspelling was mended
	None     Tier = "none"     // could only be saved by guessing, and is not
	Answer   Tier = "answer"   // no attempt
)

// FormatOK reports whether a completion of this tier is well formed.
func (t Tier) FormatOK() bool { return t == Strict || t == Answer }

// rank orders the tiers of attempts; a larger rank is worse.
func (t Tier) rank() int {
	switch t {
	case Strict:
		return 0
	case Envelope:
		return 1
	case Syntax:
		return 2
	}
	return 3
}

func worse(a, b Tier) Tier {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

// Status says how the reading of one attempt ended.
type Status string

// The statuses. Every one but StatusOK means tier none.
const (
	StatusOK          Status = "ok"
	StatusInvalidJSON Status = "invalid_json" // the payload cannot be decoded
	StatusUnclosed    Status = "unclosed"     // it never ends, though generation did
	StatusMissingName Status = "missing_name" // it names no tool
	StatusMalformed   Status = "malformed"    // it decodes, but is no call in any accepted form
	StatusTruncated   Status = "truncated"    // the token limit cut it off
)

// Defect names one thing that is off about an attempt or a completion.
type Defect string

// Defects that cost nothing by themselves: the call is well written, what it
// says is wrong. The schema criterion looks at them.
const (
	DefectUnknownTool     Defect = "unknown_tool"         // no declared tool has exactly this name
	DefectTypeMismatch    Defect = "type_mismatch"        // keyword type
	DefectMissingRequired Defect = "missing_required"     // keyword required
	DefectUnknownArgument Defect = "unknown_argument"     // a key that the schema does not name
	DefectConstraint      Defect = "constraint_violation" // any other keyword
	DefectCoercible       Defect = "coercible"            // plain type conversions would make the arguments valid
)

// Defects of the envelope: the payload is valid, what surrounds it is off.
const (
	DefectMissingWrapper   Defect = "missing_wrapper"          // a bare payload in a tagged family
	DefectWrongWrapper     Defect = "wrong_wrapper"            // another wrapper than the family's
	DefectMissingOpenTag   Defect = "missing_open_tag"         // the block starts without its opener
	DefectMissingCloseTag  Defect = "missing_close_tag"        // the closer is missing or another one
	DefectMissingBracket   Defect = "missing_bracket"          // a list of closed calls without its last bracket
	DefectArrayInTag       Defect = "array_in_tag"             // a list where one object is due
	DefectMissingArray     Defect = "missing_array"            // an object where a list is due
	DefectSeveralInTag     Defect = "several_in_tag"           // more than one call in a tag that holds one
	DefectSeparator        Defect = "wrong_separator"          // calls joined by something else, or by nothing
	DefectCodeFence        Defect = "code_fence"               // the payload stands in a fence of code
	DefectMissingFence     Defect = "missing_fence"            // the fence that is due is missing
	DefectTrailingText     Defect = "trailing_text"            // text after the last call
	DefectLeadingText      Defect = "leading_text"             // text before a call that must stand first
	DefectOpenAIShape      Defect = "openai_shape_in_text"     // {"type":"function","function":{…}}
	DefectExtraKey         Defect = "extra_key"                // a key that no call has
	DefectArgumentsMissing Defect = "arguments_missing"        // missing, null or empty, read as {}
	DefectArgumentsString  Defect = "arguments_as_string"      // a string that holds the object
	DefectTokenLookalike   Defect = "token_lookalike"          // special tokens spelt with other characters
	DefectControlToken     Defect = "control_token_in_name"    // cut off from the name
	DefectMalformedID      Defect = "malformed_id"             // the call's identifier is not in the family's form
	DefectWrongChannel     Defect = "wrong_channel"            // harmony: a call outside of commentary
	DefectCallInContent    Defect = "call_in_content"          // structured: the call stands in the text
	DefectFabricated       Defect = "fabricated_tool_result"   // the model wrote a tool's result itself
	DefectTokensStripped   Defect = "special_tokens_stripped"  // harmony: header words without their tokens
	DefectTextTyped        Defect = "missing_type_declaration" // DSML: a parameter that does not say whether it is text
)

// Defects of syntax: misspellings that can be mended without doubt.
const (
	DefectTrailingComma  Defect = "trailing_comma"
	DefectPythonLiteral  Defect = "python_literal"
	DefectRawControl     Defect = "raw_control_character"
	DefectLoneSurrogate  Defect = "lone_surrogate"
	DefectStrayCloser    Defect = "stray_closer"
	DefectSyntaxRejected Defect = "mending_switched_off" // a mended call under Reader.StrictSyntax
)

// Defects that lose the attempt.
const (
	DefectMissingName        Defect = "missing_name"
	DefectUnknownEnvelope    Defect = "unknown_envelope"      // a form that is not the declared family's
	DefectNotRecognised      Defect = "format_not_recognised" // auto: it looks like a call, in no known form
	DefectUnbalanced         Defect = "unbalanced_braces"
	DefectUnterminated       Defect = "unterminated_string"
	DefectUnescapedQuote     Defect = "unescaped_quote"
	DefectBadEscape          Defect = "bad_escape"
	DefectNonFinite          Defect = "non_finite_number"
	DefectDuplicateKey       Defect = "duplicate_key"
	DefectInvalidUTF8        Defect = "invalid_utf8"
	DefectInvalidJSON        Defect = "invalid_json"
	DefectTooDeep            Defect = "too_deep"
	DefectTooLarge           Defect = "too_large"
	DefectTooMany            Defect = "too_many_attempts"
	DefectTooMuchWork        Defect = "too_much_work" // reading the text looked at too many bytes again
	DefectArgumentsNotObject Defect = "arguments_not_object"
	DefectAmbiguous          Defect = "ambiguous_arguments" // both arguments and parameters
	DefectPositional         Defect = "positional_argument" // pythonic: f(1)
	DefectTruncated          Defect = "truncated"
	DefectMissingRecipient   Defect = "missing_recipient" // harmony: commentary without a recipient
	DefectUnparsable         Defect = "unparsable_call"   // a server's error quotes it
	DefectCallInReasoning    Defect = "call_in_reasoning"
	DefectReasoningUnclosed  Defect = "reasoning_unclosed"
	DefectLostOutput         Defect = "lost_output" // tokens were generated, the message is empty
)

// Tier is the best tier that a call with this defect can have. Some defects are
// worse in some families: the attempt's status says so.
func (d Defect) Tier() Tier {
	switch d {
	case DefectUnknownTool, DefectTypeMismatch, DefectMissingRequired, DefectUnknownArgument, DefectConstraint, DefectCoercible:
		return Strict
	case DefectTrailingComma, DefectPythonLiteral, DefectRawControl, DefectLoneSurrogate, DefectStrayCloser:
		return Syntax
	case DefectMissingWrapper, DefectWrongWrapper, DefectMissingOpenTag, DefectMissingCloseTag, DefectMissingBracket, DefectArrayInTag,
		DefectMissingArray, DefectSeveralInTag, DefectSeparator, DefectCodeFence, DefectMissingFence, DefectTrailingText,
		DefectLeadingText, DefectOpenAIShape, DefectExtraKey, DefectArgumentsMissing, DefectArgumentsString, DefectTokenLookalike,
		DefectControlToken, DefectMalformedID, DefectWrongChannel, DefectCallInContent, DefectFabricated, DefectTokensStripped, DefectTextTyped:
		return Envelope
	}
	return None
}

// finish judges the attempts and sums the completion up.
func (s *scan) finish(ctx context.Context, to *Reading) {
	if len(s.attempts) > 0 && !formOf(s.family).proseAfter && s.trailing() {
		s.mark(len(s.attempts)-1, DefectTrailingText)
	}
	if s.inContent {
		s.mark(0, DefectCallInContent)
	}
	for i := range s.attempts {
		if a := &s.attempts[i]; a.Family == Auto {
			a.Family = s.family
		}
	}
	*to = Reading{
		Family: s.family, Attempts: s.attempts, Calls: to.Calls[:0], Defects: s.defects,
		Content: s.join(s.segments), Reasoning: s.join(s.reasoning),
		Hidden: append(to.Hidden[:0], s.reasoning...), MadeUp: s.madeUp,
	}
	s.reader.judge(ctx, to)
}

// trailing reports visible text behind the last call.
func (s *scan) trailing() bool {
	for _, segment := range s.segments[min(s.afterCall, len(s.segments)):] {
		if trimTurnEnd(s.text[segment.Start:segment.End]) != "" {
			return true
		}
	}
	return false
}

// join puts pieces of the text together, without the blanks at either end.
func (s *scan) join(spans []Span) string {
	switch len(spans) {
	case 0:
		return ""
	case 1:
		return strings.TrimSpace(s.text[spans[0].Start:spans[0].End])
	}
	var b strings.Builder
	for _, span := range spans {
		b.WriteString(s.text[span.Start:span.End])
	}
	return strings.TrimSpace(b.String())
}

// judge settles tiers, validity, calls and defects of a reading that has its
// attempts.
func (r *Reader) judge(ctx context.Context, reading *Reading) {
	if reading.Attempts == nil {
		reading.Attempts = []Attempt{}
	}
	if reading.Calls == nil {
		reading.Calls = []tools.Call{}
	}
	tier, lost, valid := Strict, false, true
	defects := slices.Clip(reading.Defects)
	left, checked, reported := r.Limits.Steps, true, 0
	for i := range reading.Attempts {
		a := &reading.Attempts[i]
		if err := r.settle(ctx, a, &left); err != nil && checked {
			checked = false
			reading.Failure = &Failure{Kind: "harness", Reason: fmt.Sprintf("the arguments of attempt %d cannot be checked: %v", i, err)}
		}
		if reported += len(a.Violations); reported > r.Limits.Violations && len(a.Violations) > 1 {
			a.Violations = slices.Clone(a.Violations[:1])
		}
		defects = with(defects, a.Defects...)
		if !a.Counts() {
			lost = true
			continue
		}
		reading.Calls = append(reading.Calls, a.Call())
		tier = worse(tier, a.Tier)
		valid = valid && a.SchemaValid != nil && *a.SchemaValid
	}
	if lost || has(defects, DefectFabricated) {
		tier = worse(tier, Envelope)
	}
	switch {
	case len(reading.Attempts) == 0:
		tier = Answer
	case len(reading.Calls) == 0:
		tier = None
	case checked:
		reading.SchemaValid = &valid
	}
	reading.Tier, reading.FormatOK = tier, tier.FormatOK()
	if reading.Defects = defects; defects == nil {
		reading.Defects = []Defect{}
	}
}

// settle gives an attempt its tier, and one that counts its verdict by the
// declared schema. The error says that this takes too many steps,
// or is the context's.
func (r *Reader) settle(ctx context.Context, a *Attempt, left *int) (err error) {
	tier := Strict
	for _, d := range a.Defects {
		tier = worse(tier, d.Tier())
	}
	if tier == Syntax && r.StrictSyntax {
		tier, a.Defects = None, with(a.Defects, DefectSyntaxRejected)
	}
	if a.Status != StatusOK {
		tier = None
	} else if tier == None {
		a.Status = StatusMalformed
	}
	a.Tier = tier
	if a.Counts() {
		err = r.check(ctx, a, left)
	} else {
		a.Value, a.Arguments = nil, nil
	}
	if a.Violations == nil {
		a.Violations = []tools.Violation{}
	}
	if a.UnknownArguments == nil {
		a.UnknownArguments = []string{}
	}
	if a.Defects == nil {
		a.Defects = []Defect{}
	}
	return err
}
