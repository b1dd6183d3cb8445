package train

import (
	"encoding/binary"
	"hash/fnv"

	"toolgym/policy"
)

// HeldOut tells whether a task is left out of training, to be evaluated on. A hash
// of what the policy sees decides (FNV-1a, 64 bits, over the context's tokens and
// the stage), so that a task is held out whatever seed it comes from.
func (c Config) HeldOut(p policy.Prompt) bool {
	h := fnv.New64a()
	var word [8]byte
	add := func(n int) {
		binary.LittleEndian.PutUint64(word[:], uint64(n))
		_, _ = h.Write(word[:]) // a hash never fails
	}
	for _, token := range p.Context {
		add(token)
	}
	add(p.Stage)
	return float64(h.Sum64()>>11)/(1<<53) < c.HoldOut
}
