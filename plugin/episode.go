package plugin

import (
	"context"
	"encoding/json"
	"sync"

	lctools "github.com/tmc/langchaingo/tools"

	"toolgym/tools"
)

// EpisodeTools offers the tools of a running episode: of an environment that
// has been reset, of an episode that a server keeps, of an [MCP] session. The
// tools share the episode and make one call at a time. Once the episode is over
// they say so and call nothing; an [Agent] that has them finishes then.
func EpisodeTools(caller tools.Caller) ([]lctools.Tool, error) {
	return (&episode{caller: caller}).tools()
}

func (e *episode) tools() ([]lctools.Tool, error) {
	offered, err := offer(e.caller.Tools(), e.call)
	for i, t := range offered {
		offered[i] = episodeTool{t.(offeredTool), e}
	}
	return offered, err
}

// episode lets one call at a time through to its caller.
type episode struct {
	mu     sync.Mutex
	caller tools.Caller
	done   bool
}

func (e *episode) call(ctx context.Context, call tools.Call) (tools.Result, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return tools.Result{}, err
	}
	if e.done {
		return mistake("the episode is over: no further call counts"), nil
	}
	step, err := e.caller.Step(ctx, call)
	if err != nil {
		return tools.Result{}, err
	}
	e.done = step.Done()
	return step.Result, nil
}

// episodeTool is a tool that knows whether its episode is over.
type episodeTool struct {
	offeredTool
	episode *episode
}

// Done reports whether the episode is over.
func (t episodeTool) Done() bool {
	t.episode.mu.Lock()
	defer t.episode.mu.Unlock()
	return t.episode.done
}

// over reports whether one of the tools belongs to an episode that has ended.
func over(offered []lctools.Tool) bool {
	for _, t := range offered {
		if e, ok := t.(interface{ Done() bool }); ok && e.Done() {
			return true
		}
	}
	return false
}

// mistake is the result that tells an agent what it did wrong.
func mistake(message string) tools.Result {
	content, err := json.Marshal(map[string]string{"error": message})
	if err != nil { // a map of strings always encodes
		content = json.RawMessage(`{}`)
	}
	return tools.Result{Content: content, IsError: true}
}
