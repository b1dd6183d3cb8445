package grpo

// maxWords bounds how far a text is looked through for repetition, and with it
// the memory that this takes (1 MiB).
const maxWords = 1 << 16

// repetition is the share of the 4-grams of a text's words that stood there
// before: (all − distinct) ÷ all, and 0 for texts of fewer than four words. Words
// are what blanks and control characters part; the first 65,536 are looked at.
// Grams are compared by a 64-bit hash.
func repetition(text string) float64 {
	var last [3]uint64 // the hashes of the three words before
	var small [128]uint64
	set := gramSet{slots: small[:]}
	words := 0
	for at := 0; words < maxWords; words++ {
		word, next := nextWord(text, at)
		if next < 0 {
			break
		}
		at = next
		if words >= 3 {
			set.add(((last[0]*mixPrime+last[1])*mixPrime+last[2])*mixPrime + word)
		}
		last[0], last[1], last[2] = last[1], last[2], word
	}
	if set.all == 0 {
		return 0
	}
	return float64(set.all-set.distinct) / float64(set.all)
}

// mixPrime is the golden ratio's odd 64-bit multiplier (Knuth, TAOCP 6.4).
const mixPrime = 0x9e3779b97f4a7c15

// nextWord hashes the next word from at on, eight bytes at a time, and returns
// where it ends, or −1 when there is none.
func nextWord(text string, at int) (hash uint64, next int) {
	for at < len(text) && text[at] <= ' ' {
		at++
	}
	if at == len(text) {
		return 0, -1
	}
	var block uint64
	start := at
	for ; at < len(text) && text[at] > ' '; at++ {
		if block = block<<8 | uint64(text[at]); (at-start)&7 == 7 {
			hash = scramble(hash ^ block)
			block = 0
		}
	}
	return scramble(hash ^ block), at
}

// scramble spreads every bit over all (half of MurmurHash3's finalizer).
func scramble(h uint64) uint64 {
	h *= mixPrime
	return h ^ h>>32
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
	if s.insert(scramble(gram) | 1) {
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
