package skill_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolgym/policy/skill"
	"toolgym/tools"
)

// writerPath is the variable that turns the test program into a second process
// that writes into a library.
const writerPath = "SKILL_TEST_WRITER"

func TestMain(m *testing.M) {
	path, name, _ := strings.Cut(os.Getenv(writerPath), "|")
	if path == "" {
		os.Exit(m.Run())
	}
	if err := writeMany(path, name); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// rounds is how often each process writes.
const rounds = 20

// writeMany loads a library once, and saves it after each thing learnt: a
// skill of its own, and one use more of a skill that all share.
func writeMany(path, name string) error {
	l, err := skill.Load(path)
	if err != nil {
		return err
	}
	for i := range rounds {
		_, errAdd := l.Add(walk(fmt.Sprintf("%s_%d", name, i), 10+i, turned(float64(name[0]))))
		if err := errors.Join(errAdd, l.Count("shared", true), l.Save(path)); err != nil {
			return err
		}
	}
	return nil
}

func TestTwoProcessesLoseNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "library.json")
	l := skill.NewLibrary(tools.Sound)
	add(t, l, walk("shared", 2, turned(3)))
	must(t, l.Save(path))
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	for _, name := range []string{"a", "b"} {
		go func() {
			command := exec.CommandContext(t.Context(), program)
			command.Env = append(os.Environ(), writerPath+"="+path+"|"+name)
			text, err := command.CombinedOutput()
			if err != nil {
				err = fmt.Errorf("%w: %s", err, text)
			}
			ended <- err
		}()
	}
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	got, err := skill.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	shared, _ := got.Lookup("shared")
	if got.Len() != 1+2*rounds || shared.TimesUsed != 2*rounds || shared.SuccessCount != 2*rounds || shared.TimesFound != 1 {
		t.Errorf("%d skills, the shared one is %+v", got.Len(), shared)
	}
}

func TestSaveAndLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "library.json")
	l := skill.NewLibrary(tools.Sound)
	add(t, l, walk("s", 2, turned(0)))
	must(t, l.Count("s", true))
	for range 3 { // saving again adds nothing
		must(t, l.Save(path))
	}
	got, err := skill.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(l.Skills(), got.Skills(), cmp.Comparer(func(a, b tools.Call) bool { return a.Name == b.Name })); diff != "" {
		t.Error(diff)
	}
	files, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
	if err != nil || len(files) != 2 { // the library and its lock
		t.Errorf("files %v, %v", files, err)
	}
}

// TestSaveRefusesWhatItCanNotRead: a file that was spoilt meanwhile stays as
// it is.
func TestSaveRefusesWhatItCanNotRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "library.json")
	must(t, os.WriteFile(path, []byte("{"), 0o600))
	l := skill.NewLibrary(tools.Sound)
	wantCode(t, l.Save(path), tools.Invalid)
	if text, _ := os.ReadFile(path); string(text) != "{" {
		t.Errorf("the file is now %q", text)
	}
	must(t, os.Remove(path))
	must(t, l.Save(path))
	wantCode(t, skill.NewLibrary(tools.Documented).Save(path), tools.Conflict)
}

func TestMergeAddsUp(t *testing.T) {
	a, b := skill.NewLibrary(tools.Sound), skill.NewLibrary(tools.Sound)
	for _, l := range []*skill.Library{a, b} {
		add(t, l, walk("both", 2, turned(0)))
		must(t, l.Count("both", true))
	}
	add(t, b, walk("other", 3, turned(1)))
	must(t, a.Merge(b))
	both, _ := a.Lookup("both")
	if a.Len() != 2 || both.TimesUsed != 2 || both.SuccessCount != 2 || both.TimesFound != 2 {
		t.Errorf("%d skills, %+v", a.Len(), both)
	}
	wantCode(t, a.Merge(skill.NewLibrary(tools.Documented)), tools.Conflict)
}

const oneSkill = `{"version":1,"rules":"sound","embedding_size":8,"skills":[
 {"name":"s","env":"gridworld","preconditions":{"has_key":false},"actions":[{"name":"move_up","arguments":{}}],"path":[[0,1]],
  "embedding":[1,0,0,0,0,0,0,0],"success_count":1,"times_used":2,"times_found":1}]}`

func TestDecodeRefuses(t *testing.T) {
	if _, err := skill.Decode([]byte(oneSkill)); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, old, new, want string }{
		{"cut off", `"times_found":1}]}`, `"times_found":1`, "the text ends"},
		{"newer", `"version":1`, `"version":2`, "/version: version 2; expected 1"},
		{"unknown rules", `"rules":"sound"`, `"rules":"new"`, "/rules"},
		{"another embedding size", `"embedding_size":8`, `"embedding_size":16`, "/embedding_size: embeddings of 16 numbers; expected 8"},
		{"a short embedding", `[1,0,0,0,0,0,0,0]`, `[1,0]`, "/skills/0/embedding: got 2 numbers; expected 8"},
		{"a zero vector", `[1,0,0,0,0,0,0,0]`, `[0,0,0,0,0,0,0,0]`, "/skills/0/embedding: got a zero vector"},
		{"a long vector", `[1,0,0,0,0,0,0,0]`, `[1,1,0,0,0,0,0,0]`, "/skills/0/embedding: got a vector of length 1.41"},
		{"an unknown flag", `"has_key"`, `"has_gun"`, `/skills/0/preconditions/has_gun: gridworld has no flag "has_gun"; expected one of has_key, door_open, at_goal`},
		{"an unknown gain", `"path"`, `"gains":"money","path"`, "/skills/0/gains"},
		{"an unknown environment", `"env":"gridworld"`, `"env":"chess"`, "/skills/0/env"},
		{"a bad name", `"name":"s"`, `"name":"S 1"`, "/skills/0/name"},
		{"no actions", `[{"name":"move_up","arguments":{}}],"path":[[0,1]]`, `[]`, "/skills/0/actions"},
		{"a skill within a skill", `"move_up"`, `"skill_s"`, "/skills/0/actions/0/name"},
		{"arguments that are no object", `"arguments":{}`, `"arguments":[]`, "/skills/0/actions/0/arguments"},
		{"a path of another length", `[[0,1]]`, `[[0,1],[0,2]]`, "/skills/0/path"},
		{"an offset of three", `[[0,1]]`, `[[0,1,2]]`, "3 numbers"},
		{"more successes than uses", `"times_used":2`, `"times_used":0`, "/skills/0/times_used"},
		{"an unknown field", `"times_used"`, `"wins":1,"times_used"`, "wins"},
		{"a key twice", `"times_used"`, `"name":"t","times_used"`, "name"},
		{"a text for a number", `"times_used":2`, `"times_used":"2"`, "times_used"},
		{"something behind", `"times_found":1}]}`, `"times_found":1}]}{}`, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := strings.Replace(oneSkill, test.old, test.new, 1)
			_, err := skill.Decode([]byte(text))
			wantCode(t, err, tools.Invalid)
			if err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %q in it", err, test.want)
			}
		})
	}
	t.Run("a name twice", func(t *testing.T) {
		one := oneSkill[strings.Index(oneSkill, "{\"name\":\"s\"") : len(oneSkill)-2]
		_, err := skill.Decode([]byte(strings.Replace(oneSkill, one, one+","+one, 1)))
		if wantCode(t, err, tools.Invalid); err != nil && !strings.Contains(err.Error(), `/skills/1/name: the name "s" stands already at /skills/0`) {
			t.Error(err)
		}
	})
}

func TestLoadNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "library.json")
	_, err := skill.Load(path)
	wantCode(t, err, tools.NotFound)
	must(t, os.WriteFile(path, []byte(strings.Replace(oneSkill, "has_key", "x", 1)), 0o600))
	if _, err = skill.Load(path); err == nil || !strings.HasPrefix(err.Error(), path+"#/skills/0/preconditions/x: ") {
		t.Error(err)
	}
}

// FuzzDecode wants every text refused as the caller's mistake, or read and
// written to the same again.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(oneSkill))
	for _, crasher := range []string{``, `null`, `[]`, `{"version":1e400}`, strings.Replace(oneSkill, `{}`, `null`, 1), strings.Replace(oneSkill, `[[0,1]]`, `[null]`, 1)} {
		f.Add([]byte(crasher))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := skill.Decode(text)
		if err != nil {
			if e := (*tools.Error)(nil); !errors.As(err, &e) {
				t.Fatal(err)
			}
			return
		}
		first, err := l.Encode()
		must(t, err)
		again, err := skill.Decode(first)
		must(t, err)
		second, err := again.Encode()
		must(t, err)
		if diff := cmp.Diff(string(first), string(second)); diff != "" {
			t.Error(diff)
		}
	})
}
