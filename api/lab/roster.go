package lab

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"toolgym/api/training"
	"toolgym/internal/refusal"
	"toolgym/policy"
	"toolgym/policy/train"
	"toolgym/policy/trained"
	"toolgym/tools"
	"toolgym/tools/baseline"
)

// The agents that a column can hold, beside run:ID and ollama:MODEL.
const (
	agentBase    = "base"    // the untrained policy
	agentTrained = "trained" // the server's own, or the one that is embedded
	agentRandom  = "random"
	agentOracle  = "oracle"
	agentIdle    = "idle"

	runPrefix    = "run:"
	ollamaPrefix = "ollama:"
)

// mostOffered are listed of runs, and of models. Others go by their names in the
// page's address.
const mostOffered = 50

// A candidate is an agent that can be chosen, and candidates are those of one kind.
type (
	candidate  struct{ Value, Label string }
	candidates struct {
		Kind string
		List []candidate
	}
)

// offer lists who can stand in a column, among the runs only the caller's. Why
// there are no language models among them, the note says.
func (l *Lab) offer(ctx context.Context) (list []candidates, note string) {
	policies := []candidate{{agentBase, "Base policy, untrained"}, {agentTrained, "Trained policy"}}
	runs := l.ownRuns(ctx)
	for _, run := range runs[:min(len(runs), mostOffered)] {
		policies = append(policies, candidate{runPrefix + run.ID, runLabel(run)})
	}
	list = []candidates{{"Policies", policies}, {"Baselines", []candidate{{agentRandom, "Random calls"}, {agentOracle, "Oracle"}, {agentIdle, "Idle"}}}}
	models, silent := l.models.list(ctx)
	switch {
	case len(l.config.Ollama) == 0:
		note = "Language models can play as well, of a server that is started with --ollama."
	case len(silent) > 0:
		note = "No answer from " + strings.Join(silent, ", ") + "."
	case len(models) == 0:
		note = "The Ollama server has no model."
	}
	if len(models) == 0 {
		return list, note
	}
	served := candidates{Kind: "Ollama"}
	for _, m := range models[:min(len(models), mostOffered)] {
		served.List = append(served.List, candidate{ollamaPrefix + m.Name, m.Name})
	}
	return append(list, served), note
}

// ownRuns are the caller's policy runs, the newest first; a server that was made
// without runs has none.
func (l *Lab) ownRuns(ctx context.Context) (list []training.State) {
	if l.config.Runs == nil {
		return nil
	}
	for _, run := range l.config.Runs.List() {
		if l.config.Owns(ctx, run.Owner) {
			list = append(list, run)
		}
	}
	return list
}

func runLabel(run training.State) string {
	return fmt.Sprintf("Run %.8s: %s, %s, %s", run.ID, run.Config.Env, strings.ToUpper(run.Config.Algorithm), several(run.Updates, "update"))
}

// findRun finds a run of the caller's. Of other people's nothing is said.
func (l *Lab) findRun(ctx context.Context, where, id string) (*training.Run, error) {
	if l.config.Runs != nil {
		if run, err := l.config.Runs.Find(id); err == nil && l.config.Owns(ctx, run.State().Owner) {
			return run, nil
		}
	}
	return nil, &tools.Error{Code: tools.NotFound, Where: where, Message: fmt.Sprintf("there is no policy run %.80q", id), Want: "one of yours"}
}

// A player is who stands in a column: a policy, a baseline or a model.
type player struct {
	Label string
	Notes []string // what people must know about it at this task
	name  string   // as the settings have it
	net   *policy.Net
	agent func(take uint64) tools.Agent
	model served
}

// cast finds the player whom a setting names. Where a policy cannot play the
// task, another player stands in, and the notes say so; unknown names
// are an [*tools.Error].
func (l *Lab) cast(ctx context.Context, where, name, partner string, spec tools.Spec, task tools.Task) (player, error) {
	if model, ok := strings.CutPrefix(name, ollamaPrefix); ok {
		return l.castModel(ctx, where, name, model)
	}
	switch name {
	case agentRandom, agentOracle, agentIdle:
		return baselineOf(where, name, spec, task)
	}
	net, config, label, err := l.network(ctx, where, name, partner, spec, task.Level)
	if err == nil {
		err = readable(net, spec, task)
	}
	p := player{Label: label, name: name, net: net}
	if e, ok := errors.AsType[*tools.Error](err); ok && e.Where != where {
		return standIn(where, e, spec, task)
	} else if err != nil {
		return p, err
	}
	if name != agentBase {
		p.Notes, err = unfamiliar(config, spec, task)
	}
	return p, err
}

// unfamiliar says what a policy has not been trained on: the level, or the task.
func unfamiliar(config train.Config, spec tools.Spec, task tools.Task) ([]string, error) {
	levels := strings.Join(config.Levels, ", ")
	switch prompt, err := promptOf(spec, task); {
	case err != nil:
		return nil, err
	case !slices.Contains(config.Levels, task.Level):
		return []string{fmt.Sprintf("Trained on level %s of %s; level %s is new to it.", levels, spec.Name, task.Level)}, nil
	case config.HeldOut(prompt):
		return []string{fmt.Sprintf("Trained on level %s, though not on this task: it is one of the %.0f %% that were left out of training.", levels, 100*config.HoldOut)}, nil
	}
	return nil, nil
}

// network loads the policy that a setting names for a level, and what it was
// trained on. A mistake in the setting itself has its name as its place; another that the
// policy does not suit the environment.
func (l *Lab) network(ctx context.Context, where, name, partner string, spec tools.Spec, level string) (net *policy.Net, config train.Config, label string, err error) {
	id, isRun := strings.CutPrefix(name, runPrefix)
	switch {
	case name == agentTrained:
		net, config, err = l.trained(spec, level)
		return net, config, "Trained policy", err
	case name == agentBase:
		if _, config, _, err = l.network(ctx, where, trainedOr(partner), "", spec, level); err == nil {
			net, err = train.Untrained(config)
		}
		return net, config, "Base policy, untrained", err
	case !isRun:
		return nil, config, "", refusal.New(where, "base, trained, random, oracle, idle, run:ID or ollama:MODEL", "there is no agent %.80q", name)
	}
	run, err := l.findRun(ctx, where, id)
	if err != nil {
		return nil, config, "", err
	}
	config = run.State().Config
	if config.Env != spec.Name || config.Rules != tools.Sound {
		return nil, config, "", &tools.Error{Code: tools.Conflict, Message: fmt.Sprintf("run %.8s was trained on %s, %s rules", id, config.Env, config.Rules)}
	}
	net, _, err = policy.LoadNet(run.Checkpoint())
	return net, config, runLabel(run.State()), err
}

// trainedOr is whose beginnings the base policy is: the other column's run, or
// else the trained policy.
func trainedOr(partner string) string {
	if strings.HasPrefix(partner, runPrefix) {
		return partner
	}
	return agentTrained
}

// trained loads the server's own policy where that is for the environment, and
// otherwise the one that is embedded for the level.
func (l *Lab) trained(spec tools.Spec, level string) (*policy.Net, train.Config, error) {
	if l.config.Checkpoint != "" {
		net, checkpoint, err := policy.LoadNet(l.config.Checkpoint)
		if err != nil {
			return nil, train.Config{}, err
		}
		if config, err := train.ConfigOf(checkpoint); err == nil && config.Env == spec.Name && config.Rules == tools.Sound {
			return net, config, nil
		}
	}
	return trained.Load(spec.Name, level)
}

// readable reports why a network cannot plan a task.
func readable(net *policy.Net, spec tools.Spec, task tools.Task) error {
	prompt, err := promptOf(spec, task)
	if err != nil {
		return err
	}
	_, err = policy.NewActor(net).LogProbs([]policy.Prompt{prompt}, [][]int{nil})
	if e, ok := errors.AsType[*tools.Error](err); ok {
		return &tools.Error{Code: tools.Conflict, Where: "level", Message: fmt.Sprintf("to the policy it is unreadable: %s, where it takes %s", e.Message, e.Want)}
	}
	return err
}

// promptOf is a task as policies read it.
func promptOf(spec tools.Spec, task tools.Task) (prompt policy.Prompt, err error) {
	if spec.Enumerate == nil {
		return prompt, &tools.Error{Code: tools.Conflict, Where: "env", Message: spec.Name + " cannot be planned in advance"}
	}
	env := spec.Enumerate()
	if err := env.Start(task.Rules, task.Level, task.Seed); err != nil {
		return prompt, err
	}
	return prompt, prompt.Read(env, task.Level)
}

// standIn is who plays where a policy cannot: a beginner's place is taken by
// random calls, the other by the oracle.
func standIn(where string, reason *tools.Error, spec tools.Spec, task tools.Task) (player, error) {
	name := agentRandom
	if where == "after" && spec.Oracle != nil {
		name = agentOracle
	}
	p, err := baselineOf(where, name, spec, task)
	p.Notes = append(p.Notes, fmt.Sprintf("No policy can play this task (%s): %s stands here instead.", reason.Message, strings.ToLower(p.Label)))
	return p, err
}

func baselineOf(where, name string, spec tools.Spec, task tools.Task) (player, error) {
	switch {
	case name == agentIdle:
		return player{Label: "Idle", name: name, agent: func(uint64) tools.Agent { return baseline.Idle() }}, nil
	case name == agentRandom:
		return player{Label: "Random calls", name: name, agent: func(take uint64) tools.Agent { return baseline.Random(rand.NewPCG(task.Seed, take)) }}, nil
	case spec.Oracle == nil:
		return player{}, refusal.New(where, "another agent", "%s has no oracle", spec.Name)
	}
	return player{Label: "Oracle", name: name, agent: func(uint64) tools.Agent { return spec.Oracle }}, nil
}
