package parse_test

import (
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"testing"
	"time"

	"toolgym/grpo/parse"
)

func TestZZ(t *testing.T) {
	size, _ := strconv.Atoi(os.Getenv("ZZ"))
	if size == 0 {
		t.Skip()
	}
	reader := parse.NewReader(declaredTools(t))
	type res struct {
		s   string
		d   time.Duration
		mem uint64
	}
	var all []res
	fams := parse.Families()
	if os.Getenv("FAM") != "" {
		fams = []parse.Family{parse.Family(os.Getenv("FAM"))}
	}
	for name, text := range hostile(size) {
		for _, family := range fams {
			var m0, m1 runtime.MemStats
			runtime.ReadMemStats(&m0)
			t0 := time.Now()
			got, err := reader.Read(parse.Input{Text: &text, Family: family, FinishReason: "stop"})
			d := time.Since(t0)
			runtime.ReadMemStats(&m1)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, res{fmt.Sprintf("%s %s: %s %d", name, family, got.Tier, len(got.Attempts)), d, m1.TotalAlloc - m0.TotalAlloc})
			if d > 20*time.Second {
				fmt.Println("SLOW", name, family, d)
			}
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].d > all[j].d })
	for _, r := range all[:min(30, len(all))] {
		fmt.Println(r.d, r.mem>>20, "MB", r.s)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].mem > all[j].mem })
	fmt.Println()
	for _, r := range all[:min(20, len(all))] {
		fmt.Println(r.d, r.mem>>20, "MB", r.s)
	}
}
