package grpo

// maxWords bounds how far a text is looked through for repetition, and with it
// the memory that this takes (1 MiB).
const maxWords = 1 << 16

// repetition is the share of the 4-grams of a text's words that stood there
// before: (all − distinct) ÷ all, and 0 for texts of fewer than four words. Words
// are what blanks part; the first 65,536 are looked at. Grams are compared by a
// 64-bit hash.
func repetition(text string) float64 {
	var last [3]uint64 // the hashes of the three words before
	var small [256]uint64
	set := gramSet{slots: small[:]}
	words := 0
	for at := 0; words < maxWords; words++ {
		word, next := nextWord(text, at)
		if next < 0 {
			break
		}
		at = next
		if words >= 3 {
			set.add(mix(mix(mix(last[0], last[1]), last[2]), word))
		}
		last[0], last[1], last[2] = last[1], last[2], word
	}
	if set.all == 0 {
		return 0
	}
	return float64(set.all-set.distinct) / float64(set.all)
}

// The parameters of the FNV-1a hash, 64 bit.
const (
	fnvOffset = 14695981039346656037
	fnvPrime  = 1099511628211
)

// nextWord hashes the next word from at on and returns where it ends, or −1
// when there is none.
func nextWord(text string, at int) (hash uint64, next int) {
	for at < len(text) && blank(text[at]) {
		at++
	}
	if at == len(text) {
		return 0, -1
	}
	hash = fnvOffset
	for at < len(text) && !blank(text[at]) {
		hash = (hash ^ uint64(text[at])) * fnvPrime
		at++
	}
	return hash, at
}

func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// mix joins two hashes so that their order counts (the finalizer of
// MurmurHash3 on a multiple of the first).
func mix(a, b uint64) uint64 {
	h := a*31 + b
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	return h ^ h>>33
}

// gramSet is a set of hashes by open addressing; slots is a power of two long
// and 0 is a free slot. It is written for texts of a few hundred words, which
// need no allocation.
type gramSet struct {
	slots         []uint64
	distinct, all int
}

func (s *gramSet) add(gram uint64) {
	s.all++
	if s.insert(gram | 1) {
		s.distinct++
		if 2*s.distinct > len(s.slots) {
			s.grow()
		}
	}
}

func (s *gramSet) insert(gram uint64) bool {
	mask := uint64(len(s.slots) - 1)
	for i := gram >> 1 & mask; ; i = (i + 1) & mask {
		switch s.slots[i] {
		case 0:
			s.slots[i] = gram
			return true
		case gram:
			return false
		}
	}
}

func (s *gramSet) grow() {
	old := s.slots
	s.slots = make([]uint64, 2*len(old))
	for _, gram := range old {
		if gram != 0 {
			s.insert(gram)
		}
	}
}
