package research

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math/big"
	"testing"
)

// TestCorpusHash fixes the corpus: a task id must refer to the same task in every
// release, also if math/rand/v2 changes.
func TestCorpusHash(t *testing.T) {
	sum := sha256.New()
	encoder := json.NewEncoder(sum)
	for c := range company(companies()) {
		for q := range quarter(quarters) {
			r := reportOf(c, q)
			if err := encoder.Encode([]searchResult{describe(&r, sharePrice, false), describe(&r, sharePrice, true), describe(&r, results, false)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	const want = "384a009e5b4cabf75202539563938f547f8832f91843e37b7919ead4e5e4e654"
	if got := hex.EncodeToString(sum.Sum(nil)); got != want {
		t.Errorf("got the hash %s, want %s", got, want)
	}
}

func TestCompanies(t *testing.T) {
	seen := map[string]company{}
	for c := range company(companies()) {
		for _, word := range []string{c.name(), c.ticker()} {
			if other, twice := seen[word]; twice {
				t.Errorf("%q names companies %d and %d", word, other, c)
			}
			seen[word] = c
			if found, ok, _ := find(word); !ok || found != c {
				t.Errorf("searching %q finds %v, %v", word, found, ok)
			}
		}
	}
	if len(seen) != 240 {
		t.Errorf("%d names and tickers, want 240", len(seen))
	}
}

func TestReports(t *testing.T) {
	change := func(a, b closing) *big.Rat {
		r := big.NewRat(int64(100*(b.cents-a.cents)), int64(a.cents))
		return r.Abs(r)
	}
	least := big.NewRat(19, 10)
	falls := 0
	for c := range company(companies()) {
		for q := range quarter(quarters) {
			r := reportOf(c, q)
			if change(r.before(), r.after()).Cmp(least) < 0 {
				t.Errorf("%s %s: the reaction is only %s %%", c.name(), q, r.change().FloatString(2))
			}
			if r.change().Sign() < 0 {
				falls++
			}
			for i, day := range r.days {
				if weekend(day.day) || day.cents < 100 {
					t.Errorf("%s %s: %v", c.name(), q, day)
				}
				if i > 0 && !r.days[i-1].day.Before(day.day) {
					t.Errorf("%s %s: days out of order", c.name(), q)
				}
				if i > 0 && i-1 != r.lastBefore() && change(r.days[i-1], day).Cmp(least) >= 0 {
					t.Errorf("%s %s: the price changes as much on another day", c.name(), q)
				}
			}
			if near(big.NewRat(int64(r.premarket), 10), r.change()) {
				t.Errorf("%s %s: the premarket move is the answer", c.name(), q)
			}
		}
	}
	if all := companies() * quarters; falls < all/3 || falls > all/2 {
		t.Errorf("%d of %d prices fall, want about two fifths", falls, all)
	}
}

func TestPublishedReport(t *testing.T) {
	for _, level := range levels() {
		asked := draw(level, 0).reports[0]
		if asked.before().cents != 12000 || asked.after().cents != 13700 || asked.company.name() != "Halden Robotics" || asked.quarter.String() != "Q3 2024" {
			t.Errorf("level %s asks about %s %s: %d, %d", level, asked.company.name(), asked.quarter, asked.before().cents, asked.after().cents)
		}
	}
	q := draw(oneReport, 0)
	if got := q.value().FloatString(6); got != "14.166667" {
		t.Errorf("the change is %s", got)
	}
	if got := q.target().FloatString(2); got != "14.17" {
		t.Errorf("the target is %s", got)
	}
}

func TestComparedReportsDiffer(t *testing.T) {
	kinds := map[string]int{}
	for seed := range uint64(200) {
		q := draw(compare, seed)
		a, b := q.reports[0], q.reports[1]
		switch {
		case a.company == b.company && a.quarter != b.quarter:
			kinds["quarters"]++
		case a.company != b.company && a.quarter == b.quarter:
			kinds["companies"]++
		default:
			t.Errorf("seed %d compares %s %s with %s %s", seed, a.company.name(), a.quarter, b.company.name(), b.quarter)
		}
	}
	if kinds["quarters"] < 60 || kinds["companies"] < 60 {
		t.Errorf("%v, want both kinds often", kinds)
	}
}
