package parse

import (
	"encoding/json"
	"errors"
	"strings"

	"toolgym/internal/strictjson"
)

// style says how a family writes a call as a JSON object.
type style struct {
	nameKey string   // "name" where empty
	native  string   // further keys of the native form, each between commas: ",id,"
	tagged  bool     // the object stands in a wrapper: missing arguments mean {}
	defects []Defect // what every call read here has
}

func (st style) name() string {
	if st.nameKey != "" {
		return st.nameKey
	}
	return "name"
}

func (st style) isNative(key string) bool {
	return st.native != "" && strings.Contains(st.native, ","+key+",")
}

// parts are the members of an object that matter to a call.
type parts struct {
	name, arguments, function *strictjson.Member

	id        string
	twice     bool // both arguments and parameters
	typed     bool // "type":"function" that is not native
	foreign   bool // the name stands under another family's key
	other     bool // keys that no call has
	described bool // a description: this declares a tool
}

// sort finds the parts of a call among the members of an object.
func (st style) sort(members []strictjson.Member) (p parts) {
	for i := range members {
		m := &members[i]
		switch m.Key {
		case st.name():
			p.name, p.foreign = m, false
		case "arguments", "parameters":
			p.twice = p.twice || p.arguments != nil
			p.arguments = m
		case "function":
			p.function = m
		case "type":
			p.typed = p.typed || !st.isNative("type")
			p.other = p.other || m.Value != "function"
		case "id", "tool_call_id":
			p.id, _ = m.Value.(string)
			p.other = p.other || !st.isNative(m.Key)
		case "name":
			if p.name == nil {
				p.name, p.foreign = m, true
			}
		case "description":
			p.described, p.other = true, true
		default:
			p.other = true
		}
	}
	return p
}

// nested reports the shape {"type":"function","function":{…}}.
func (p parts) nested() bool {
	if p.function == nil || p.name != nil || p.arguments != nil {
		return false
	}
	_, ok := p.function.Value.(map[string]any)
	return ok
}

// object reads the call that starts with a brace at an offset into a, which is
// not added yet; its span ends where the object does. The failure is that of
// decoding it.
func (s *scan) object(a *Attempt, at int, st style) *strictjson.Error {
	members, end, mends, failure := s.decode(at)
	if failure != nil {
		return failure
	}
	s.call(a, members, at, st)
	a.Span = Span{at, end}
	if mends != 0 {
		a.Defects = with(a.Defects, mendDefects(mends)...)
		if a.Value != nil {
			a.Arguments = strictjson.Append(nil, a.Value)
		}
	}
	return nil
}

// decode reads the object at an offset, strictly if that is possible. Offsets
// of the members are relative to at, the end is not. The list of members is
// overwritten by the next call.
func (s *scan) decode(at int) (members []strictjson.Member, end int, mends strictjson.Mends, failure *strictjson.Error) {
	text := s.text[at:s.end]
	limits := s.reader.Limits.JSON
	members, size, err := limits.AppendObject(s.members[:0], text, &s.spare)
	s.budget.decode(size)
	if err == nil {
		s.members = members
		return members, at + size, 0, nil
	}
	members, size, mends, err = limits.Mend(text)
	s.budget.decode(2 * size)
	if err != nil {
		failure, _ = errors.AsType[*strictjson.Error](err)
		return nil, 0, 0, failure
	}
	return members, at + size, mends, nil
}

// call makes an attempt of an object's members, whose spans are relative to base.
func (s *scan) call(a *Attempt, members []strictjson.Member, base int, st style) {
	p := st.sort(members)
	if p.nested() {
		s.nestedCall(a, p, base, st)
		return
	}
	*a = Attempt{Status: StatusOK, Defects: append([]Defect(nil), st.defects...), ID: p.id}
	if p.name != nil {
		a.Name, _ = p.name.Value.(string)
	}
	a.cutName()
	s.setArguments(a, p, base, st)
	switch {
	case a.Name == "":
		a.fail(StatusMissingName, DefectMissingName)
	case p.twice:
		a.fail(StatusMalformed, DefectAmbiguous)
	case p.arguments == nil && p.other:
		a.fail(StatusMalformed, DefectUnknownEnvelope)
	}
	if a.Status != StatusOK {
		return
	}
	if p.foreign {
		a.Defects = with(a.Defects, DefectWrongWrapper)
	}
	if p.typed {
		a.Defects = with(a.Defects, DefectOpenAIShape)
	}
	if p.other {
		a.Defects = with(a.Defects, DefectExtraKey)
	}
}

// nestedCall reads {"type":"function","function":{…}}.
func (s *scan) nestedCall(a *Attempt, p parts, base int, st style) {
	if s.budget.exhausted() {
		*a = Attempt{Status: StatusMalformed, Defects: []Defect{DefectTooMuchWork}}
		return
	}
	at := base + p.function.Start // p points into what the next line overwrites
	inner, _, _, failure := s.decode(at)
	if failure != nil {
		*a = Attempt{Status: StatusInvalidJSON, Defects: []Defect{DefectInvalidJSON}}
		return
	}
	s.call(a, inner, at, style{tagged: st.tagged, defects: st.defects})
	if a.ID = p.id; a.Status == StatusOK {
		a.Defects = with(a.Defects, DefectOpenAIShape)
	}
}

// setArguments takes the arguments over, or says why that is impossible.
func (s *scan) setArguments(a *Attempt, p parts, base int, st style) {
	if p.arguments == nil {
		if !p.other {
			a.noArguments(st)
		}
		return
	}
	start := base + p.arguments.Start
	a.Raw = s.text[start : base+p.arguments.End]
	switch value := p.arguments.Value.(type) {
	case map[string]any:
		a.Value, a.Arguments = value, json.RawMessage(a.Raw)
	case nil:
		a.noArguments(st)
	case string:
		if strings.TrimSpace(value) == "" {
			a.noArguments(st)
		} else {
			s.argumentsFromString(a, value)
		}
	default:
		a.fail(StatusMalformed, DefectArgumentsNotObject)
	}
}

// noArguments reads missing arguments as {} where the object is tagged.
func (a *Attempt) noArguments(st style) {
	a.Value, a.Arguments = map[string]any{}, json.RawMessage("{}")
	a.Defects = with(a.Defects, DefectArgumentsMissing)
	if !st.tagged {
		a.Status, a.Value, a.Arguments = StatusMalformed, nil, nil
	}
}

// argumentsFromString decodes arguments that were encoded twice.
func (s *scan) argumentsFromString(a *Attempt, text string) {
	value, err := s.reader.Limits.JSON.DecodeString(text)
	object, ok := value.(map[string]any)
	if err != nil || !ok {
		a.fail(StatusMalformed, DefectArgumentsNotObject)
		return
	}
	a.Value, a.Arguments = object, json.RawMessage(text)
	a.Defects = with(a.Defects, DefectArgumentsString)
}

// fail loses the attempt for one reason; nothing else is held against it.
func (a *Attempt) fail(status Status, defects ...Defect) {
	a.Status, a.Defects = status, defects
	a.Value, a.Arguments = nil, nil
}

// cutName cuts control tokens that are glued to the name.
func (a *Attempt) cutName() {
	cut := len(a.Name)
	for _, token := range [...]string{"<|", "<｜"} {
		if i := strings.Index(a.Name, token); i >= 0 {
			cut = min(cut, i)
		}
	}
	if cut < len(a.Name) {
		a.Name = a.Name[:cut]
		a.Defects = with(a.Defects, DefectControlToken)
	}
}

func mendDefects(mends strictjson.Mends) (defects []Defect) {
	for _, kind := range mends.Kinds() {
		defects = append(defects, Defect(kind))
	}
	return defects
}

// takeArguments makes an object's members the arguments.
func (a *Attempt) takeArguments(members []strictjson.Member, mends strictjson.Mends) {
	a.Value = make(map[string]any, len(members))
	for _, m := range members {
		a.Value[m.Key] = m.Value
	}
	a.Arguments = json.RawMessage(a.Raw)
	if mends != 0 {
		a.Arguments = strictjson.Append(nil, a.Value)
		a.Defects = with(a.Defects, mendDefects(mends)...)
	}
}
