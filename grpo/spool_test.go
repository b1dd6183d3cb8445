package grpo

import (
	"fmt"
	"os"
	"testing"
)

func TestSpoolKeepsOrderInMemoryAndOnDisk(t *testing.T) {
	for _, limit := range []int{0, 100, 1 << 20} {
		t.Run(fmt.Sprintf("limit %d", limit), func(t *testing.T) {
			dir := t.TempDir()
			s := spool{dir: dir, limit: limit}
			for round := range 2 { // reset leaves it as good as new
				for i := range 100 {
					if err := s.add(fmt.Appendf(nil, "record %d of %d", i, round), nil); err != nil {
						t.Fatal(err)
					}
				}
				i := 0
				err := s.each(2, func(record [][]byte) error {
					if want := fmt.Sprintf("record %d of %d", i, round); string(record[0]) != want || len(record[1]) != 0 {
						t.Fatalf("%q, want %q", record, want)
					}
					i++
					return nil
				})
				if err != nil || i != 100 {
					t.Fatalf("%d records, %v", i, err)
				}
				if err := s.reset(); err != nil {
					t.Fatal(err)
				}
			}
			if left, _ := os.ReadDir(dir); len(left) != 0 {
				t.Errorf("%v is left behind", left)
			}
		})
	}
}

func TestSpoolSaysThatTheDiskFailed(t *testing.T) {
	s := spool{dir: t.TempDir() + "/nowhere"}
	if err := s.add([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := s.add([]byte("y")); err == nil {
		t.Error("a folder that does not exist took a file")
	}
}
