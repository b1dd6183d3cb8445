package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"toolgym/grpo"
	"toolgym/grpo/parse"
	"toolgym/internal/goroutine"
	"toolgym/internal/intake"
	"toolgym/internal/ndjson"
	"toolgym/internal/refusal"
	"toolgym/tools"
)

type parseCommand struct {
	Family       string `help:"Family of the model, such as hermes or llama3_json (default: auto, by the first opener)." placeholder:"NAME"`
	Tools        string `help:"JSON file: the list of tools that were declared to the model." placeholder:"FILE"`
	FinishReason string `help:"Why generation ended; length means that it was cut off." placeholder:"REASON"`
	JSONL        bool   `help:"Each line is a body of POST /v1/parse, and each answer a line." name:"jsonl"`
	Policy       bool   `help:"Print what is decided on disputed forms, and read nothing."`
	File         string `arg:"" optional:"" help:"What the model wrote; - is standard input." default:"-"`
}

// Help shows how the command is used.
func (parseCommand) Help() string {
	return `Reads the tool calls that a language model wrote, strictly, and reports for
everything that it finds how well it is written and why.

Examples:
  toolgym parse --tools tools.json completion.txt
  ollama run qwen3 "…" | toolgym parse --family hermes
  toolgym parse --jsonl completions.jsonl > readings.jsonl
  toolgym parse --policy

A line of --jsonl has text, message (a server's body) or stream (its chunks),
and family, finish_reason, tools where they matter. A line that can't be read
gives one with a failure of kind harness that names its number.`
}

func (c parseCommand) Run(ctx context.Context, world *console) error {
	switch {
	case c.Policy:
		return world.printf("%s", grpo.ReadingPolicy())
	case !c.JSONL:
		return c.one(ctx, world)
	}
	if c.Family+c.Tools+c.FinishReason != "" {
		return refusal.New("--jsonl", "--jsonl without --family, --tools, --finish-reason", "family, tools and finish reason are said by each line")
	}
	return world.through(ctx, c.File, func(ctx context.Context, in io.Reader, out io.Writer) error {
		var desk intake.Desk
		return ndjson.Each(ctx, in, out, 0, func(to []byte, line ndjson.Line) []byte { return readLine(ctx, &desk, to, line) },
			func(to []byte, line ndjson.Line, err error) []byte {
				world.log.LogAttrs(ctx, slog.LevelError, "line not read", slog.Int("line", line.Number), goroutine.Attr(err))
				return appendJSON(to, unread(line, errInternal))
			})
	})
}

// one reads one completion.
func (c parseCommand) one(ctx context.Context, world *console) error {
	var declared tools.Set
	if c.Tools != "" {
		list, err := readFile("--tools", c.Tools)
		if err != nil {
			return err
		}
		var desk intake.Desk
		if declared, err = desk.Tools(list); err != nil {
			return ofFile(c.Tools, err)
		}
	}
	in := parse.Input{Text: new(string), Family: parse.Family(c.Family), FinishReason: c.FinishReason}
	if err := in.Family.Validate(); err != nil {
		return refusal.New("--family", families(), "unknown family %.60q", c.Family)
	}
	return world.through(ctx, c.File, func(ctx context.Context, file io.Reader, out io.Writer) error {
		text, err := io.ReadAll(io.LimitReader(file, ndjson.MaxLine+1))
		if err != nil {
			return fmt.Errorf("reading the completion: %w", err)
		}
		if len(text) > ndjson.MaxLine {
			return &tools.Error{Code: tools.TooLarge, Where: "FILE", Message: "the completion is too long", Want: fmt.Sprintf("at most %d bytes", ndjson.MaxLine)}
		}
		*in.Text = string(text)
		var reading parse.Reading
		if err := parse.NewReader(declared).ReadInto(ctx, &reading, in); err != nil {
			return err
		}
		if _, err := out.Write(appendJSON(nil, reading)); err != nil {
			return fmt.Errorf("writing the reading: %w", err)
		}
		return nil
	})
}

func families() string {
	names := make([]string, len(parse.Families()))
	for i, family := range parse.Families() {
		names[i] = string(family)
	}
	return strings.Join(names, ", ")
}

// readLine appends the answer to one line.
func readLine(ctx context.Context, desk *intake.Desk, to []byte, line ndjson.Line) []byte {
	var reading parse.Reading
	err := error(&tools.Error{Code: tools.TooLarge, Message: "the line is too long", Want: fmt.Sprintf("at most %d bytes", ndjson.MaxLine)})
	if !line.TooLong {
		reading, err = desk.Read(ctx, line.Text)
	}
	if err != nil {
		reading = unread(line, err)
	}
	return appendJSON(to, reading)
}

// errInternal is the error of a line whose reading panicked.
var errInternal = errors.New("internal error")

// unread is the answer to a line that cannot be read.
func unread(line ndjson.Line, err error) parse.Reading {
	return parse.Reading{
		Family: parse.Auto, Tier: parse.None, Calls: []tools.Call{}, Attempts: []parse.Attempt{}, Defects: []parse.Defect{},
		Failure: &parse.Failure{Kind: "harness", Reason: fmt.Sprintf("line %d: %v", line.Number, err)},
	}
}

// appendJSON writes one compact JSON value on a line of its own, as the REST API
// does.
func appendJSON(to []byte, v any) []byte {
	b := bytes.NewBuffer(to)
	encoder := json.NewEncoder(b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		panic(fmt.Sprintf("toolgym: a reading that cannot be written: %v", err)) // its parts were decoded from JSON
	}
	return b.Bytes()
}
