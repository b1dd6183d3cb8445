package parse

import "strconv"

// Command (Cohere, also North): a list between two tokens, with key names of
// its own,
//
//	<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "f", "parameters": {"a": 1}}]<|END_ACTION|>
func commandForm() form {
	return form{opens: tokenSet(pipeStartAction), read: (*scan).command, render: renderCommand}
}

func (s *scan) command(m mark) bool {
	return s.payload(wrapper{at: m.at, body: m.end, closer: m.closer, list: true,
		style: style{nameKey: "tool_name", native: ",tool_call_id,", tagged: true}})
}

func renderCommand(calls []renderable) (string, error) {
	index := -1
	return "<|START_ACTION|>[" + renderEach(calls, ", ", func(c renderable) string {
		index++
		return `{"tool_call_id": "` + strconv.Itoa(index) + `", ` + c.object("tool_name", "parameters")[1:]
	}) + "]<|END_ACTION|>", nil
}
