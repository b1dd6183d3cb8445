package grpo

import (
	"math"
	"math/bits"
)

// maxWords bounds how far a text is looked through for repetition, and with it
// the memory that this takes (1 MiB).
const maxWords = 1 << 16

// repetition is the share of the 4-grams of a text's words that stood there
// before: (all − distinct) ÷ all, and 0 for texts of fewer than four words. Words
// are what blanks and control characters part; the first 65,536 are looked at.
// Grams are compared by a 64-bit hash.
func repetition(text string) float64 {
	var last [4]uint64 // the hashes of the last four words, the latest at words&3
	var small [256]uint64
	set := gramSet{slots: small[:]}
	gram := uint64(0) // of those four: last₀·p³ + last₁·p² + last₂·p + last₃
	for words, at := 0, 0; words < maxWords; words++ {
		word, next := nextWord(text, at)
		if next < 0 {
			break
		}
		at = next
		gram = gram*mixPrime + word - last[words&3]*mixPrime4
		last[words&3] = word
		if words >= 3 {
			set.add(gram)
		}
	}
	if set.all == 0 {
		return 0
	}
	return float64(set.all-set.distinct) / float64(set.all)
}

// mixPrime is the golden ratio's odd 64-bit multiplier (Knuth, TAOCP 6.4), p, and
// mixPrime4 is p⁴ modulo 2⁶⁴.
const (
	mixPrime  = 0x9e3779b97f4a7c15
	mixPrime2 = mixPrime * mixPrime & math.MaxUint64
	mixPrime4 = mixPrime2 * mixPrime2 & math.MaxUint64
)

// nextWord hashes the next word from at on, eight bytes at a time, and returns
// where it ends, or −1 when there is none.
func nextWord(text string, at int) (hash uint64, next int) {
	for at < len(text) && text[at] <= ' ' {
		at++
	}
	if at == len(text) {
		return 0, -1
	}
	for at+8 <= len(text) {
		block := load8(text[at:])
		if end := blanksIn(block); end != 0 {
			size := bits.TrailingZeros64(end) &^ 7
			return scramble(hash ^ block&(1<<size-1)), at + size/8
		}
		hash = scramble(hash ^ block)
		at += 8
	}
	var block uint64
	for size := 0; at < len(text) && text[at] > ' '; size += 8 {
		block |= uint64(text[at]) << size
		at++
	}
	return scramble(hash ^ block), at
}

// load8 is the first eight bytes of a text, the first one lowest.
func load8(text string) uint64 {
	_ = text[7]
	return uint64(text[0]) | uint64(text[1])<<8 | uint64(text[2])<<16 | uint64(text[3])<<24 |
		uint64(text[4])<<32 | uint64(text[5])<<40 | uint64(text[6])<<48 | uint64(text[7])<<56
}

// blanksIn sets the highest bit of the first byte that is at most a blank; the
// bytes above it mean nothing (Mycroft 1987).
func blanksIn(block uint64) uint64 {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	return (block - (' '+1)*ones) &^ block & highs
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
