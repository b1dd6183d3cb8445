package strictjson

// Limits bound what one value may cost. Use [Defaults] and change fields; zero
// means zero.
type Limits struct {
	Depth    int // nesting of arrays and objects
	Values   int // values of all kinds, keys not counted
	Size     int // bytes of text that one value may span
	Number   int // characters of one number
	Exponent int // magnitude of a number's exponent
}

// Defaults are the limits of [Decode]: depth 128, a million values, 64 MiB,
// numbers of 4,096 characters with exponents up to a thousand million. Such a
// number is kept as text; who computes with it must bound it first.
func Defaults() Limits {
	return Limits{Depth: 128, Values: 1_000_000, Size: 64 << 20, Number: 4096, Exponent: 1_000_000_000}
}

// Decode reads exactly one JSON value under the default limits. The error is
// an [*Error].
func Decode(data []byte) (any, error) {
	return Defaults().Decode(data)
}

// Decode reads exactly one JSON value; only blanks may stand around it. The
// error is an [*Error].
func (l Limits) Decode(data []byte) (any, error) {
	return l.DecodeString(string(data))
}

// DecodeString is Decode for a text; strings in the value share its memory.
func (l Limits) DecodeString(text string) (any, error) {
	r := reader{text: text, limits: l}
	r.skipBlanks()
	value, err := r.value()
	if err != nil {
		return nil, err
	}
	r.skipBlanks()
	if r.pos < len(text) {
		return nil, r.fail(TrailingData, r.pos, "%q after the value", text[r.pos])
	}
	return value, nil
}

// Prefix reads one JSON value at the start of the text (blanks may precede
// it) and returns the offset of the first byte after it. What follows is not
// looked at. The error is an [*Error].
func (l Limits) Prefix(text string) (value any, end int, err error) {
	r := reader{text: text, limits: l}
	r.skipBlanks()
	value, failure := r.value()
	if failure != nil {
		return nil, r.pos, failure
	}
	return value, r.pos, nil
}

// Member is one key of an object and its value, with the span text[Start:End]
// of the value.
type Member struct {
	Key        string
	Value      any
	Start, End int
}

// Object reads one JSON object at the start of the text (blanks may precede
// it), keeps the order of its members, and returns the offset after it. The
// error is an [*Error].
func (l Limits) Object(text string) (members []Member, end int, err error) {
	return l.AppendObject(nil, text, nil)
}

// AppendObject is Object with the members appended to a list, and with objects
// among the values taken from the spare ones, if there are any.
func (l Limits) AppendObject(list []Member, text string, spare *Spare) (members []Member, end int, err error) {
	r := reader{text: text, limits: l, spare: spare}
	members, failure := r.topObject(list)
	if failure != nil {
		return nil, r.pos, failure
	}
	return members, r.pos, nil
}
