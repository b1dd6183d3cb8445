package strictjson

// Spare are objects that are no longer needed, for [Limits.AppendObject] to
// fill again. Only small ones are kept, as most are: emptying a large one costs
// what its size once was. It is used by one goroutine.
type Spare struct{ objects []map[string]any }

// mostSpare and mostMembers bound what is kept.
const (
	mostSpare   = 16
	mostMembers = 8
)

// Give hands an object over. An empty one is not kept: it may have been given
// before.
func (s *Spare) Give(object map[string]any) {
	if n := len(object); n > 0 && n <= mostMembers && len(s.objects) < mostSpare {
		clear(object)
		s.objects = append(s.objects, object)
	}
}

// take returns an empty object.
func (s *Spare) take() map[string]any {
	if s == nil || len(s.objects) == 0 {
		return map[string]any{}
	}
	last := len(s.objects) - 1
	object := s.objects[last]
	s.objects = s.objects[:last]
	return object
}
