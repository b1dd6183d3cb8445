package lab

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"toolgym/grpo"
	"toolgym/grpo/parse"
)

// defectWords says a defect in a sentence. One without words of its own is
// called by its name.
func defectWords(d parse.Defect) string {
	if words, ok := defectSentences()[d]; ok {
		return words
	}
	return titled(string(d)) + "."
}

func defectSentences() map[parse.Defect]string {
	return map[parse.Defect]string{
		parse.DefectUnknownTool:     "No tool of exactly this name was declared.",
		parse.DefectTypeMismatch:    "A value has another type than the schema asks for.",
		parse.DefectMissingRequired: "A required argument is missing.",
		parse.DefectUnknownArgument: "There is an argument that the schema does not name.",
		parse.DefectConstraint:      "A value breaks a constraint of the schema.",
		parse.DefectCoercible:       "Plain type conversions would make the arguments valid; none is done.",

		parse.DefectMissingWrapper:  "The call stands bare, without the family's wrapper.",
		parse.DefectWrongWrapper:    "The call stands in another wrapper than the family's.",
		parse.DefectMissingOpenTag:  "The opening tag is missing.",
		parse.DefectMissingCloseTag: "The closing tag is missing, or is another one.",
		parse.DefectMissingBracket:  "The last bracket of the list is missing.",
		parse.DefectArrayInTag:      "A list stands where one object is due.",
		parse.DefectMissingArray:    "An object stands where a list is due.",
		parse.DefectSeveralInTag:    "More than one call stands in a tag that holds one.",
		parse.DefectSeparator:       "Calls are joined by something else than the family's separator.",
		parse.DefectCodeFence:       "The call stands in a fence of code.",
		parse.DefectMissingFence:    "The fence of code that is due is missing.",
		parse.DefectTrailingText:    "Text follows the last call.",
		parse.DefectLeadingText:     "Text stands before a call that must stand first.",
		parse.DefectOpenAIShape:     "The call is written in the shape of the OpenAI interface, which belongs to messages.",
		parse.DefectExtraKey:        "The call has a key that no call has.",

		parse.DefectArgumentsMissing: "The arguments are missing, and read as none.",
		parse.DefectArgumentsString:  "The arguments are a text that holds the object.",
		parse.DefectTokenLookalike:   "Special tokens are spelt with other characters.",
		parse.DefectControlToken:     "A control token was cut off from the name.",
		parse.DefectMalformedID:      "The call's identifier is not in the family's form.",
		parse.DefectWrongChannel:     "The call stands outside of the commentary channel.",
		parse.DefectCallInContent:    "The call stands in the text, where a structured one is due.",
		parse.DefectFabricated:       "The model wrote a tool's result itself.",
		parse.DefectTokensStripped:   "The header stands without its special tokens.",
		parse.DefectTextTyped:        "A parameter does not say whether it is text.",

		parse.DefectTrailingComma:  "A comma before a closing bracket was mended.",
		parse.DefectPythonLiteral:  "Python's quotes or words were mended.",
		parse.DefectRawControl:     "A raw control character in a text was mended.",
		parse.DefectLoneSurrogate:  "Half of a surrogate pair was mended.",
		parse.DefectStrayCloser:    "There is a closing bracket too many.",
		parse.DefectSyntaxRejected: "It could be mended, and mending is switched off.",

		parse.DefectMissingName:      "It names no tool.",
		parse.DefectUnknownEnvelope:  "The form is not the declared family's.",
		parse.DefectNotRecognised:    "It looks like a call, in no known form.",
		parse.DefectUnbalanced:       "Braces are not closed.",
		parse.DefectUnterminated:     "A text never ends.",
		parse.DefectUnescapedQuote:   "A quote inside of a text is not escaped.",
		parse.DefectBadEscape:        "Invalid JSON escape.",
		parse.DefectNonFinite:        "NaN and Infinity are no JSON numbers.",
		parse.DefectDuplicateKey:     "A key stands twice, and which one counts is a guess.",
		parse.DefectInvalidUTF8:      "There are bytes that are no text.",
		parse.DefectInvalidJSON:      "The payload is not JSON.",
		parse.DefectTooDeep:          "It is nested too deeply.",
		parse.DefectTooLarge:         "It is too large.",
		parse.DefectTooMany:          "There are more attempts than are read.",
		parse.DefectTooMuchWork:      "Reading it takes too much work: the same text would have to be read again and again.",
		parse.DefectAmbiguous:        "It has both arguments and parameters.",
		parse.DefectPositional:       "An argument stands without its name.",
		parse.DefectTruncated:        "The token limit cut it off.",
		parse.DefectMissingRecipient: "The commentary has no recipient.",
		parse.DefectUnparsable:       "The server could not read the call.",
		parse.DefectCallInReasoning:  "A call stands in the reasoning, where none counts.",
		parse.DefectLostOutput:       "Tokens were generated, and the message is empty.",

		parse.DefectArgumentsNotObject: "The arguments are no object.",
		parse.DefectReasoningUnclosed:  "The reasoning is never closed, and takes all the rest with it.",

		grpo.DefectResultMismatch: "A result in the transcript is not what the environment answers.",
		grpo.DefectCallAfterEnd:   "There is a call after the one that ended the task.",
	}
}

// verdictWords says what became of a call.
func verdictWords(call grpo.Call) string {
	switch call.Verdict {
	case grpo.VerdictRight:
		return "It is an expected call."
	case grpo.VerdictWrong:
		return "It stands in place of an expected call, and differs from it."
	case grpo.VerdictExtra:
		return "Nothing expects it."
	case grpo.VerdictRepeated:
		return "Nothing expects it: it repeats an earlier call."
	case grpo.VerdictExecuted, grpo.VerdictRefused:
		word := "answered "
		if call.Verdict == grpo.VerdictRefused {
			word = "refused: "
		}
		if call.Result != nil {
			return "The environment " + word + clipped(string(call.Result.Content), 200) + "."
		}
	case grpo.VerdictAfterEnd:
		return "The task was over by then."
	}
	return ""
}

// statusWord is how an attempt that was lost is labelled.
func statusWord(s parse.Status) string {
	switch s {
	case parse.StatusInvalidJSON:
		return "no JSON"
	case parse.StatusMissingName:
		return "no name"
	case parse.StatusTruncated:
		return "cut off"
	}
	return string(s)
}

// titled writes a name in words: wrong_wrapper is Wrong wrapper.
func titled(name string) string { return upper(strings.ReplaceAll(name, "_", " ")) }

// sentence begins with a capital and ends with a full stop.
func sentence(text string) string {
	return strings.TrimSuffix(upper(clipped(text, 400)), ".") + "."
}

func upper(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return text
	}
	return string(unicode.ToUpper(first)) + text[size:]
}

// clipped bounds what a page quotes, by whole characters.
func clipped(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return text[:atRune(text, most)] + "…"
}
