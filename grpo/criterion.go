package grpo

import "slices"

// The criteria that are worked out for every completion. The first four are
// the published reward lab's; the others have weight 0 unless a rubric says
// otherwise, and are then reported but not paid.
const (
	CriterionFormat     = "format"     // 1 when every turn is strict or an answer, else 0
	CriterionSchema     = "schema"     // share of the calls that are valid against their schema
	CriterionCompletion = "completion" // 1 when the task is solved, a fraction where extra calls divide it
	CriterionLength     = "length"     // turns, or the overlong ramp over tokens (Criterion.Unit)

	CriterionCallsEmitted     = "calls_emitted"     // attempts of every tier
	CriterionCallsParsed      = "calls_parsed"      // attempts that count as calls
	CriterionCallsValid       = "calls_valid"       // calls that are valid against their schema
	CriterionCallsExecuted    = "calls_executed"    // calls that the environment answered without an error
	CriterionCallsNeeded      = "calls_needed"      // calls of a shortest known solution
	CriterionFabricatedResult = "fabricated_result" // 1 when the model wrote a tool's result itself
	CriterionUngroundedAnswer = "ungrounded_answer" // 1 when it answers a task that needs calls without one that worked
	CriterionCopiedSchema     = "copied_schema"     // 1 when a tool's declaration stands where arguments are due
	CriterionRepeatedTags     = "repeated_tags"     // tags beyond the first of those that belong once into a turn
	CriterionEmptyTags        = "empty_tags"        // tags with nothing in between
	CriterionRepetition       = "repetition"        // share of the word 4-grams that stood there before
	CriterionOverlong         = "overlong"          // 1 when the completion was cut off by its length
	CriterionHiddenViolations = "hidden_violations" // violations of keywords that serving layers hide from the model
)

// measure indexes the criteria above in the order of reports, and their values
// in Criteria.
type measure int

const (
	mFormat measure = iota
	mSchema
	mCompletion
	mLength
	mCallsEmitted
	mCallsParsed
	mCallsValid
	mCallsExecuted
	mCallsNeeded
	mFabricatedResult
	mUngroundedAnswer
	mCopiedSchema
	mRepeatedTags
	mEmptyTags
	mRepetition
	mOverlong
	mHiddenViolations
	measures // their number
)

// criteria lists the names in the order of reports.
func criteria() []string {
	names := [measures]string{
		mFormat: CriterionFormat, mSchema: CriterionSchema, mCompletion: CriterionCompletion, mLength: CriterionLength,
		mCallsEmitted: CriterionCallsEmitted, mCallsParsed: CriterionCallsParsed, mCallsValid: CriterionCallsValid,
		mCallsExecuted: CriterionCallsExecuted, mCallsNeeded: CriterionCallsNeeded, mFabricatedResult: CriterionFabricatedResult,
		mUngroundedAnswer: CriterionUngroundedAnswer, mCopiedSchema: CriterionCopiedSchema, mRepeatedTags: CriterionRepeatedTags,
		mEmptyTags: CriterionEmptyTags, mRepetition: CriterionRepetition, mOverlong: CriterionOverlong, mHiddenViolations: CriterionHiddenViolations,
	}
	return names[:]
}

// known reports whether name is one of the criteria that need no formula.
func known(name string) bool { return slices.Contains(criteria(), name) }
