package quota_test

import (
	"errors"
	"sync"
	"testing"

	"toolgym/internal/quota"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

func TestTake(t *testing.T) {
	type take struct {
		owner string
		n     int64
		want  string // "", "share" or "full"
	}
	for _, test := range []struct {
		name   string
		limits quota.Limits
		takes  []take
	}{
		{"room", quota.Limits{All: 4, Each: 2}, []take{{"a", 1, ""}, {"a", 1, ""}, {"b", 2, ""}}},
		{"share", quota.Limits{All: 4, Each: 2}, []take{{"a", 2, ""}, {"a", 1, "share"}, {"b", 1, ""}}},
		{"full", quota.Limits{All: 4, Each: 2}, []take{{"a", 2, ""}, {"b", 2, ""}, {"c", 1, "full"}, {"a", 1, "share"}}},
		{"one owner", quota.Limits{All: 2, Each: 2}, []take{{"", 1, ""}, {"", 1, ""}, {"", 1, "full"}}},
		{"one large unit alone", quota.Limits{All: 10, Each: 5}, []take{{"a", 20, ""}, {"a", 1, "share"}, {"b", 1, "full"}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			q := quota.New("streams", test.limits)
			for i, take := range test.takes {
				checked := q.Check(take.owner, take.n)
				_, err := q.Take(take.owner, take.n)
				share, full := (*quota.ShareError)(nil), refusal.Is(err, tools.Exhausted)
				got := ""
				if errors.As(err, &share) {
					got = "share"
				} else if full {
					got = "full"
				}
				if got != take.want || full != (take.want != "") || (checked == nil) != (err == nil) {
					t.Errorf("take %d: got error %v (check %v); want %q", i, err, checked, take.want)
				}
			}
		})
	}
}

func TestReleaseIsCountedOnce(t *testing.T) {
	q := quota.New("streams", quota.Limits{All: 2, Each: 1})
	release, err := q.Take("a", 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := q.Take("b", 1); err != nil {
		t.Fatal(err)
	}
	var both sync.WaitGroup
	for range 2 {
		both.Go(release)
	}
	both.Wait()
	if q.Used() != 1 {
		t.Errorf("%d in use after a release; want 1", q.Used())
	}
	if _, err := q.Take("a", 1); err != nil {
		t.Error(err)
	}
}

func TestPart(t *testing.T) {
	for _, test := range []struct {
		all  int64
		part float64
		each int64
	}{{64, 0.5, 32}, {1, 0.5, 1}, {3, 0.5, 1}, {64, 1, 64}, {4096, 0.001, 4}, {10, 0.001, 1}} {
		if got := quota.Part(test.all, test.part); got != (quota.Limits{All: test.all, Each: test.each}) {
			t.Errorf("%g of %d: got %+v; want %d", test.part, test.all, got, test.each)
		}
	}
}

// TestRing floods a ring as one owner: it drops that owner's keys only.
func TestRing(t *testing.T) {
	r := quota.NewRing[int](10)
	for key := range 3 {
		r.Add("b", -1-key)
	}
	for key := range 1000 {
		dropped, full := r.Add("a", key)
		if full != (key >= 7) || full && dropped != key-7 {
			t.Fatalf("key %d: dropped %d, %t", key, dropped, full)
		}
	}
	for key := range 3 {
		if !r.Has(-1 - key) {
			t.Errorf("key %d of the other owner was dropped", -1-key)
		}
	}
	r.Remove(995)
	if _, full := r.Add("a", 1000); full || r.Has(995) || !r.Has(1000) {
		t.Error("a key that was removed counts")
	}
	if dropped, full := r.Add("c", 1001); !full || dropped != 993 {
		t.Errorf("a third owner's first key dropped %d, %t; want the oldest of the owner with the most", dropped, full)
	}
	if _, full := r.Add("c", 1001); full {
		t.Error("a key that is kept already dropped another")
	}
}

// TestRingOfEqualOwners: an owner who has as many keys as another drops its own.
func TestRingOfEqualOwners(t *testing.T) {
	for range 20 { // whatever the order of a map
		r := quota.NewRing[int](4)
		for key := range 2 {
			r.Add("b", key)
			r.Add("a", 10+key)
		}
		if dropped, _ := r.Add("a", 12); dropped != 10 {
			t.Fatalf("dropped %d; want 10", dropped)
		}
	}
}
