package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFold(t *testing.T) {
	text := "one two three four five six seven eight"
	for _, test := range []struct {
		name  string
		rows  [][]string
		width int
		want  [][]string
	}{
		{"no terminal", [][]string{{"a", text}}, 0, [][]string{{"a", text}}},
		{"wide enough", [][]string{{"a", text}}, 42, [][]string{{"a", text}}},
		{"at blanks, under its column", [][]string{{"HEAD", "TEXT"}, {"a", text}}, 32, [][]string{{"HEAD", "TEXT"}, {"a", "one two three four five"}, {"", "six seven eight"}}},
		{"the widest column first", [][]string{{text, "one two", text}}, 60, [][]string{{"one two three four five", "one two", "one two three four five"}, {"six seven eight", "", "six seven eight"}}},
		{"characters are counted, not bytes", [][]string{{"ä→", "öööööööööö ööööööööööööö"}}, 28, [][]string{{"ä→", "öööööööööö ööööööööööööö"}}},
		{"words stay whole", [][]string{{"a", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx y"}}, 30, [][]string{{"a", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}, {"", "y"}}},
		{"a row that ends before", [][]string{{"a"}, {"b", text}}, 42, [][]string{{"a"}, {"b", text}}},
		{"one column", [][]string{{text}}, 30, [][]string{{"one two three four five six"}, {"seven eight"}}},
		{"nothing", nil, 80, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, fold(test.rows, test.width)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
