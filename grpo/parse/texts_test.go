package parse_test

import (
	"fmt"
	"strings"
)

// The native forms that several tests write.

func hermesCall(name, arguments string) string {
	return fmt.Sprintf("<tool_call>\n{\"name\": %q, \"arguments\": %s}\n</tool_call>", name, arguments)
}

func qwenCall(name, parameters string) string {
	return fmt.Sprintf("<tool_call>\n<function=%s>\n%s</function>\n</tool_call>", name, parameters)
}

func deepSeekR1(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "<｜tool▁call▁begin｜>function<｜tool▁sep｜>%s\n```json\n%s\n```<｜tool▁call▁end｜>", pairs[i], pairs[i+1])
	}
	return "<｜tool▁calls▁begin｜>" + b.String() + "<｜tool▁calls▁end｜>"
}

func deepSeekV31(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "<｜tool▁call▁begin｜>%s<｜tool▁sep｜>%s<｜tool▁call▁end｜>", pairs[i], pairs[i+1])
	}
	return "<｜tool▁calls▁begin｜>" + b.String() + "<｜tool▁calls▁end｜>"
}

func dsml(block, invokes string) string {
	return "<｜DSML｜" + block + ">\n" + invokes + "</｜DSML｜" + block + ">"
}

// dsmlInvoke writes one block; parameter is the name with the attribute that
// follows it, key" string="true, or empty.
func dsmlInvoke(name, parameter, value string) string {
	inner := ""
	if parameter != "" {
		inner = fmt.Sprintf("<｜DSML｜parameter name=\"%s\">%s</｜DSML｜parameter>\n", parameter, value)
	}
	return fmt.Sprintf("<｜DSML｜invoke name=\"%s\">\n%s</｜DSML｜invoke>\n", name, inner)
}

func kimi(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, "<|tool_call_begin|>functions.%s:%d<|tool_call_argument_begin|>%s<|tool_call_end|>", pairs[i], i/2, pairs[i+1])
	}
	return "<|tool_calls_section_begin|>" + b.String() + "<|tool_calls_section_end|>"
}
