package strictjson

import "slices"

// keySet finds a key's second use: by comparison while there are few keys, as
// in nearly every object, and by a map from there.
type keySet struct {
	few  [8]string
	n    int
	many map[string]struct{}
}

// add reports whether the key is new.
func (s *keySet) add(key string) bool {
	if s.many != nil {
		before := len(s.many)
		s.many[key] = struct{}{}
		return len(s.many) > before
	}
	if slices.Contains(s.few[:s.n], key) {
		return false
	}
	if s.n < len(s.few) {
		s.few[s.n] = key
		s.n++
		return true
	}
	s.many = map[string]struct{}{key: {}}
	for _, old := range s.few {
		s.many[old] = struct{}{}
	}
	return true
}
