package grpo

import (
	"encoding/json"

	"toolgym/grpo/objective"
	"toolgym/grpo/parse"
	"toolgym/tools"
)

// The kinds of failure. Only the model's own is scored; the others give a null
// reward, and are counted.
const (
	FailureModel          = "model"          // malformed, wrong, refused
	FailureServing        = "serving"        // the server lost or changed the output
	FailureHarness        = "harness"        // the prompt was cut, the task is broken, a criterion cannot be worked out
	FailureInfrastructure = "infrastructure" // timeouts, lost connections
)

// A Failure says why a completion has no reward: something other than the
// model failed. Its kind is one of those above.
type Failure = parse.Failure

// A Response answers a Request, group by group in its order.
type Response struct {
	Groups  []GroupScore `json:"groups"`
	Metrics Metrics      `json:"metrics"`
}

// A GroupScore is the scores of one group and how its rewards lie.
type GroupScore struct {
	ID string `json:"id"`
	objective.Spread
	Completions []Score `json:"completions"`
}

// A Score is what one completion is worth. Reward is nil, and Valid false,
// exactly where Failure is set.
type Score struct {
	Reward    *float64 `json:"reward"`
	Valid     bool     `json:"valid"`
	Failure   *Failure `json:"failure"`
	Advantage float64  `json:"advantage"`
	Success   bool     `json:"success"`
	Criteria  Criteria `json:"criteria"`
	Calls     []Call   `json:"calls"`
	// Missing are the expected calls that were not made.
	Missing []tools.Call   `json:"missing,omitempty"`
	Defects []parse.Defect `json:"defects"`
	Tier    parse.Tier     `json:"tier"`
	// Cause is the error behind a Failure that is not the caller's: of the
	// environment, or a panic. A program logs it; it is not for clients.
	Cause error `json:"-"`

	total  float64 // what Reward points at
	turns  int
	tokens int // −1 if unknown
}

// Defects that only show when the calls are carried out.
const (
	DefectResultMismatch parse.Defect = "tool_result_mismatch" // a transcript's tool result is not the environment's
	DefectCallAfterEnd   parse.Defect = "call_after_end"       // a call after the one that ended the task
)

// A Call is an attempt and what became of it. The attempt's Value is nil: it is
// in its Arguments.
type Call struct {
	parse.Attempt
	Turn    int    `json:"turn"`    // the assistant message it stands in, from 0
	Verdict string `json:"verdict"` // one of the verdicts
	// Expected is the expected call that it is, or that it comes nearest to and
	// differs from in the arguments Differs. Repeats is the earlier call that it
	// repeats. Both are indices; nil means none.
	Expected *int     `json:"expected,omitempty"`
	Differs  []string `json:"differs,omitempty"`
	Repeats  *int     `json:"repeats,omitempty"`
	// Result is the environment's answer, where the task has an environment,
	// and Given the transcript's, where that is another one.
	Result *tools.Result   `json:"result,omitempty"`
	Given  json.RawMessage `json:"given,omitempty"`
}

// The verdicts on an attempt.
const (
	VerdictRight    = "right"     // an expected call
	VerdictWrong    = "wrong"     // in place of an expected call, with other arguments
	VerdictExtra    = "extra"     // nothing expects it
	VerdictRepeated = "repeated"  // extra, and equal to an earlier call
	VerdictExecuted = "executed"  // the environment carried it out
	VerdictRefused  = "refused"   // the environment answered with an error
	VerdictAfterEnd = "after_end" // the task was over
	VerdictUnjudged = "unjudged"  // the task asks nothing of the calls
	VerdictLost     = "lost"      // tier none: it is no call
)
