package api

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/danielgtaylor/huma/v2"

	"toolgym/grpo"
)

// jsonFormat writes answers as huma does, but for scores: an answer of many is
// written score by score, so that it is never in memory as a whole.
func jsonFormat() huma.Format {
	format := huma.DefaultJSONFormat
	whole := format.Marshal
	format.Marshal = func(w io.Writer, v any) error {
		if response, ok := v.(grpo.Response); ok {
			return writeScores(w, response)
		}
		return whole(w, v)
	}
	return format
}

// writeScores writes what encoding/json makes of a response, and forgets each
// score when it is written.
func writeScores(to io.Writer, response grpo.Response) error {
	w := bufio.NewWriterSize(to, 1<<16)
	list := func(open string, n int, item func(i int) error) error {
		_, _ = w.WriteString(open) // errors of the buffer stay until it is flushed
		for i := range n {
			if i > 0 {
				_ = w.WriteByte(',')
			}
			if err := item(i); err != nil {
				return err
			}
		}
		return w.WriteByte(']')
	}
	err := list(`{"groups":[`, len(response.Groups), func(i int) error {
		g := response.Groups[i]
		completions := g.Completions
		g.Completions = []grpo.Score{}
		head, err := marshal(g)
		if err != nil {
			return fmt.Errorf("writing a group: %w", err)
		}
		open, ok := bytes.CutSuffix(head, []byte("]}"))
		if !ok {
			return fmt.Errorf("writing a group: its completions are not its last field: %.200s", head)
		}
		err = list(string(open), len(completions), func(j int) error {
			text, err := marshal(&completions[j])
			if err != nil {
				return fmt.Errorf("writing a score: %w", err)
			}
			completions[j] = grpo.Score{}
			_, err = w.Write(text)
			return err
		})
		if err != nil {
			return err
		}
		return w.WriteByte('}')
	})
	if err != nil {
		return err
	}
	metrics, err := marshal(response.Metrics)
	if err != nil {
		return fmt.Errorf("writing metrics: %w", err)
	}
	fmt.Fprintf(w, ",\"metrics\":%s}\n", metrics)
	return w.Flush()
}

// marshal is json.Marshal in huma's way, which leaves <, > and & as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
