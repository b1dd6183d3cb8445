package suite

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"

	"toolgym/grpo/eval"
	"toolgym/grpo/match"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

// The bounds of a file. All of its questions are kept, with their tools compiled,
// before the first is played.
const (
	longestLine   = 4 << 20   // bytes
	mostMemory    = 256 << 20 // bytes that the tools compile to; equal lists count once
	mostProblems  = 1_000     // lines that are listed
	mostQuestions = MostTasks
)

// A LineError is a line that cannot be used.
type LineError struct {
	Line int   `json:"line"` // from 1
	Err  error `json:"-"`
}

// Error says where and what.
func (p LineError) Error() string { return fmt.Sprintf("line %d: %v", p.Line, p.Err) }

// Unwrap is the mistake itself.
func (p LineError) Unwrap() error { return p.Err }

// Read reads the questions of a file. The name is the environment of its tasks
// in ids and reports. Lines that cannot be used are listed and left out; where the
// file is over a bound, the line that is too much is the last one listed. The error
// is the reader's or the context's.
func Read(ctx context.Context, r io.Reader, name string) ([]eval.Item, []LineError, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longestLine)
	var (
		items    []eval.Item
		problems []LineError
		seen     = map[string]int{}
		declared = declarations{known: map[string]tools.Set{}}
		n        int
	)
	for lines.Scan() {
		n++
		if ctx.Err() != nil {
			return items, problems, fmt.Errorf("reading %s: %w", name, ctx.Err())
		}
		text := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), []byte("\ufeff")))
		if len(text) == 0 {
			continue
		}
		if len(problems) == mostProblems || len(items) == mostQuestions {
			return items, append(problems, LineError{n, refusal.New("", fmt.Sprintf("at most %d questions, and %d lines that cannot be used", mostQuestions, mostProblems),
				"the file has more; the rest was not read")}), nil
		}
		item, err := declared.readLine(ctx, text, name)
		if errors.Is(err, errMemory) {
			return items, append(problems, LineError{n, refusal.New("/function", fmt.Sprintf("tools that take at most %d bytes together, or several files", mostMemory),
				"the tools up to this line take more; the rest of the file was not read")}), nil
		}
		if err == nil && seen[item.Task.ID] > 0 {
			err = refusal.New("/id", "each id once", "the id of line %d stands here again", seen[item.Task.ID])
		}
		if err != nil {
			problems = append(problems, LineError{n, err})
			continue
		}
		seen[item.Task.ID] = n
		items = append(items, item)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return items, append(problems, LineError{n + 1, refusal.New("", fmt.Sprintf("at most %d bytes", longestLine), "the line is too long; the rest of the file was not read")}), nil
	}
	if err := lines.Err(); err != nil {
		return items, problems, fmt.Errorf("reading %s: %w", name, err)
	}
	return items, problems, nil
}

// line is a question as it stands in the file.
type line struct {
	ID          string                                   `json:"id"`
	Level       string                                   `json:"level"`
	Question    question                                 `json:"question"`
	Function    json.RawMessage                          `json:"function"`
	GroundTruth *[]map[string]map[string]json.RawMessage `json:"ground_truth"`
	Expected    *match.Expected                          `json:"expected"`
}

// declarations are the lists of tools of a file, by their texts.
type declarations struct {
	known  map[string]tools.Set
	memory int
}

var errMemory = errors.New("the tools take too much memory")

// set finds or compiles a list.
func (d *declarations) set(text json.RawMessage) (tools.Set, error) {
	if len(text) == 0 {
		return nil, nil
	}
	if set, ok := d.known[string(text)]; ok {
		return set, nil
	}
	var set functions
	if err := set.UnmarshalJSON(text); err != nil {
		return nil, err
	}
	if d.memory += tools.Set(set).Memory(); d.memory > mostMemory {
		return nil, errMemory
	}
	d.known[string(text)] = tools.Set(set)
	return tools.Set(set), nil
}

func (d *declarations) readLine(ctx context.Context, text []byte, name string) (eval.Item, error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	decoder.UseNumber()
	var l line
	if err := decoder.Decode(&l); err != nil {
		return eval.Item{}, refusal.Of(err, "a JSON object with id, question, function and ground_truth")
	}
	if decoder.More() {
		return eval.Item{}, refusal.New("", "one object a line", "something follows the object")
	}
	set, err := d.set(l.Function)
	if err != nil {
		return eval.Item{}, err
	}
	switch {
	case l.ID == "":
		return eval.Item{}, refusal.New("/id", "a name", "the question has none")
	case len(l.Question) == 0:
		return eval.Item{}, refusal.New("/question", "a text or messages", "nothing is asked")
	case (l.GroundTruth == nil) == (l.Expected == nil):
		return eval.Item{}, refusal.New("/ground_truth", "either ground_truth or expected", "%s", both(l.Expected != nil))
	}
	expected := l.Expected
	if expected == nil {
		if expected, err = groundTruth(*l.GroundTruth); err != nil {
			return eval.Item{}, err
		}
	}
	task := tools.Task{ID: name + "/" + l.ID, Env: name, Level: l.level(), Prompt: l.Question}
	return eval.Ask(ctx, task, set, *expected)
}

func both(yes bool) string {
	if yes {
		return "both are given"
	}
	return "nothing says what is right"
}

// numbered is an id that ends in a number, as the leaderboard's do.
var numbered = regexp.MustCompile(`^(.+?)[-_]\d+([-_]\d+)*$`)

func (l line) level() string {
	if l.Level != "" {
		return l.Level
	}
	if m := numbered.FindStringSubmatch(l.ID); m != nil {
		return m[1]
	}
	return "own"
}
