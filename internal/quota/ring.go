package quota

import "slices"

// A Ring keeps at most a number of keys, each with an owner. It is not safe for
// concurrent use.
type Ring[K comparable] struct {
	limit int
	count int
	owned map[string][]K // the oldest first
	owner map[K]string
}

// NewRing returns an empty ring.
func NewRing[K comparable](limit int) *Ring[K] {
	return &Ring[K]{limit: limit, owned: map[string][]K{}, owner: map[K]string{}}
}

// Has reports whether a key is kept.
func (r *Ring[K]) Has(key K) bool {
	_, ok := r.owner[key]
	return ok
}

// Add keeps a key. If there are too many then, the oldest key of the owner with
// the most is dropped and returned; of owners with equally many, that is the
// owner who adds. A key that is kept already stays as it is.
func (r *Ring[K]) Add(owner string, key K) (dropped K, full bool) {
	if r.Has(key) {
		return dropped, false
	}
	r.owned[owner], r.owner[key] = append(r.owned[owner], key), owner
	if r.count++; r.count <= r.limit {
		return dropped, false
	}
	most := owner
	for other, keys := range r.owned {
		if len(keys) > len(r.owned[most]) || len(keys) == len(r.owned[most]) && most != owner && other < most {
			most = other
		}
	}
	dropped = r.owned[most][0]
	r.Remove(dropped)
	return dropped, true
}

// Remove drops a key, if it is kept.
func (r *Ring[K]) Remove(key K) {
	owner, ok := r.owner[key]
	if !ok {
		return
	}
	delete(r.owner, key)
	r.count--
	keys := r.owned[owner]
	if i := slices.Index(keys, key); i == 0 {
		keys = keys[1:] // append moves the rest to a new array in time
	} else {
		keys = slices.Delete(keys, i, i+1)
	}
	if r.owned[owner] = keys; len(keys) == 0 {
		delete(r.owned, owner)
	}
}
