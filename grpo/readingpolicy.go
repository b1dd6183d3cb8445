package grpo

import _ "embed"

//go:embed POLICY.md
var readingPolicy string

// ReadingPolicy is what is decided on disputed forms of tool calls, one line
// each, as Markdown: the file POLICY.md, which `toolgym parse --policy` prints.
func ReadingPolicy() string { return readingPolicy }
