package telemetry

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
)

// event is what TensorBoard reads of an event.
type event struct {
	wall    float64
	step    uint64
	version string
	starts  bool // a session
	scalars map[string]float32
}

// readEvents reads an event file, checksums included.
func readEvents(t *testing.T, path string) []event {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []event
	for len(content) > 0 {
		length := binary.LittleEndian.Uint64(content)
		message := content[12 : 12+length]
		wantSum(t, content[:8], content[8:])
		wantSum(t, message, content[12+length:])
		all = append(all, readEvent(t, message))
		content = content[16+length:]
	}
	return all
}

// wantSum unmasks a checksum by the format's description and compares it.
func wantSum(t *testing.T, content, sum []byte) {
	t.Helper()
	rotated := binary.LittleEndian.Uint32(sum) - 0xa282ead8
	if got, want := rotated>>17|rotated<<15, crc32.Checksum(content, crc32.MakeTable(crc32.Castagnoli)); got != want {
		t.Fatalf("checksum %x, want %x", got, want)
	}
}

// fields splits a message into its fields.
func fields(t *testing.T, message []byte, each func(number protowire.Number, value []byte)) {
	t.Helper()
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			t.Fatal(protowire.ParseError(n))
		}
		size := protowire.ConsumeFieldValue(number, kind, message[n:])
		if size < 0 {
			t.Fatal(protowire.ParseError(size))
		}
		value := message[n : n+size]
		if kind == protowire.BytesType {
			value, _ = protowire.ConsumeBytes(value)
		}
		each(number, value)
		message = message[n+size:]
	}
}

func readEvent(t *testing.T, message []byte) event {
	t.Helper()
	e := event{scalars: map[string]float32{}}
	fields(t, message, func(number protowire.Number, value []byte) {
		switch number {
		case 1:
			e.wall = math.Float64frombits(binary.LittleEndian.Uint64(value))
		case 2:
			e.step, _ = protowire.ConsumeVarint(value)
		case 3:
			e.version = string(value)
		case 7:
			fields(t, value, func(_ protowire.Number, value []byte) {
				status, _ := protowire.ConsumeVarint(value)
				e.starts = status == 1
			})
		case 5:
			fields(t, value, func(_ protowire.Number, value []byte) { readScalar(t, value, e.scalars) })
		}
	})
	return e
}

func readScalar(t *testing.T, message []byte, scalars map[string]float32) {
	t.Helper()
	tag, number := "", float32(0)
	fields(t, message, func(field protowire.Number, value []byte) {
		switch field {
		case 1:
			tag = string(value)
		case 2:
			number = math.Float32frombits(binary.LittleEndian.Uint32(value))
		}
	})
	scalars[tag] = number
}

func TestEventsReadBack(t *testing.T) {
	dir := t.TempDir()
	at := time.Unix(1_700_000_000, 250_000_000)
	e, err := openEvents(dir, 7, func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	r := record(8)
	low, high, call := 0.0625, 0.09375, 0.4375
	r.Advantage, r.ValueLoss, r.Loss, r.ToolMass, r.CallProb, r.Restarts, r.UpdatesPerSecond = 0.75, 3, -0.5, 0.875, 0.625, 2, 40
	r.ClipLow, r.ClipHigh, r.StartCallProb = &low, &high, &call
	r.Greedy = []StageResult{{Stage: "1", Success: 0.75, Reward: 1.25}}
	if err := e.write(r); err != nil {
		t.Fatal(err)
	}
	if err := e.file.Close(); err != nil {
		t.Fatal(err)
	}
	got := readEvents(t, filepath.Join(dir, "events.out.tfevents.0000000007.toolgym"))
	if len(got) != 3 || got[0].version != "brain.Event:2" || got[0].step != 7 || !got[1].starts || got[1].step != 8 || got[2].step != 8 || got[2].wall != 1_700_000_000.25 {
		t.Fatalf("events %+v", got)
	}
	want := map[string]float32{
		"reward": 0.5, "advantage": 0.75, "policy_loss": -0.25, "value_loss": 3, "entropy": 2, "loss": -0.5, "grad_norm": 1, "kl": 0.125,
		"tool_mass": 0.875, "call_prob": 0.625, "restarts": 2, "updates_per_second": 40, "success/0": 0.5,
		"clip_low": 0.0625, "clip_high": 0.09375, "start_call_prob": 0.4375,
		"greedy_success/1": 0.75, "greedy_reward/1": 1.25,
	}
	if diff := cmp.Diff(want, got[2].scalars); diff != "" {
		t.Errorf("want (-) and read back (+):\n%s", diff)
	}
}

// TestEventsHappenOnce goes on from updates before those that were written, as after
// a kill, and reads as TensorBoard does: a session's start makes void what was
// read of its step and later ones.
func TestEventsHappenOnce(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "events.out.tfevents.9999999999.other"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	written(t, dir, 0, 5)
	written(t, dir, 3, 8)
	written(t, dir, 6, 7)
	written(t, dir, 2, 4) // of an older copy of the checkpoint
	var steps []uint64
	for _, update := range []int{0, 2, 3, 6} {
		path := filepath.Join(dir, eventsName(update))
		if update > 2 {
			if _, err := os.Stat(path); !os.IsNotExist(err) {
				t.Errorf("the file of update %d is still there: %v", update, err)
			}
			continue
		}
		for _, e := range readEvents(t, path) {
			switch {
			case e.starts:
				steps = slices.DeleteFunc(steps, func(step uint64) bool { return step >= e.step })
			case len(e.scalars) > 0:
				steps = append(steps, e.step)
			}
		}
	}
	if diff := cmp.Diff([]uint64{1, 2, 3, 4}, steps); diff != "" {
		t.Errorf("want (-) and seen by TensorBoard (+):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "events.out.tfevents.9999999999.other")); err != nil {
		t.Errorf("a file of somebody else: %v", err)
	}
}
