package parse

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
