package skill_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"testing"

	"toolgym/policy"
	"toolgym/policy/skill"
	"toolgym/tools"
	"toolgym/tools/arithmetic"
	"toolgym/tools/gridworld"
)

// TestSkillsWithoutAPath has a library of hand-made skills that do not say where
// they lead: the agent does not walk by them, also where it stands on the target.
func TestSkillsWithoutAPath(t *testing.T) {
	library := skill.NewLibrary(tools.Sound)
	for name, gains := range map[string]string{"pickup_key": "has_key", "open_door": "door_open"} {
		s := walk(name, 1, turned(float64(len(name))))
		s.Actions[0].Name, s.Path, s.Gains = name, nil, gains
		add(t, library, s)
	}
	explorer, err := skill.NewExplorer(skill.ExploreNovelty, rand.NewPCG(1, 1))
	must(t, err)
	fetched := 0
	for seed := range uint64(20) {
		for _, step := range play(t, gridworld.Spec(), "1", seed, skill.NewAgent(library, explorer)).Steps {
			if step.Call.Name == "pickup_key" && step.Reward > 0 {
				fetched++
			}
		}
	}
	if fetched == 0 {
		t.Error("the agent stood on no key: the test means to go there")
	}
	for _, s := range library.Skills() {
		if s.TimesUsed != 0 {
			t.Errorf("%s is used %d times", s.Name, s.TimesUsed)
		}
	}
}

// TestCutOffTellsNothing lets the episode's limit end a skill in its middle: it is
// neither a success nor a failure of it.
func TestCutOffTellsNothing(t *testing.T) {
	library, spec := skill.NewLibrary(tools.Sound), gridworld.Spec()
	for _, s := range extract(t, play(t, spec, "0", 0, spec.Oracle)) {
		add(t, library, s)
	}
	env := spec.New()
	task, err := spec.Task(tools.Sound, "0", 0)
	must(t, err)
	observation, err := env.Reset(t.Context(), task)
	must(t, err)
	left := 2 // steps, of the five to the key
	for range 50 - left {
		step, err := env.Step(t.Context(), tools.Call{Name: "move_left", Arguments: []byte("{}")}) // into the edge
		must(t, err)
		if step.Done() {
			t.Fatal("the limit is reached before")
		}
	}
	explorer, err := skill.NewExplorer(skill.ExploreRandom, rand.NewPCG(1, 1))
	must(t, err)
	agent := skill.NewAgent(library, explorer)
	must(t, agent.Play(t.Context(), task, observation, env))
	if agent.Counts() != (skill.EpisodeCounts{Decisions: 1, Uses: 1}) {
		t.Errorf("the episode took %+v", agent.Counts())
	}
	if stats := library.Stats(); stats.Uses != 0 {
		t.Errorf("%d uses are counted", stats.Uses)
	}
}

// planner plays arithmetic by a network's greedy plan.
type planner struct {
	net *policy.Net
	env tools.Enumerator
}

func (p planner) Play(ctx context.Context, task tools.Task, _ json.RawMessage, caller tools.Caller) error {
	if err := p.env.Start(task.Rules, task.Level, task.Seed); err != nil {
		return err
	}
	plans, err := policy.NewActor(p.net).Plan([]policy.Prompt{{Context: p.env.Context(nil), Stage: int(task.Level[0] - '0')}}, nil)
	if err != nil {
		return err
	}
	calls, err := p.env.Calls(task, plans[0].Tokens)
	if err != nil {
		return err
	}
	for _, call := range calls {
		if step, err := caller.Step(ctx, call); err != nil || step.Done() {
			return err
		}
	}
	return nil
}

// trained trains a network on stages 0 to 2 together, until its sampled plans
// earn nearly all.
func trained(t *testing.T) *policy.Net {
	t.Helper()
	config := policy.Default(policy.UpdateA2C, policy.PoolOrdered, arithmetic.NewEnumerator().Vocabulary())
	config.Hidden, config.Batch, config.LearningRate, config.EntropyCoef = 48, 192, 2e-3, 0.05
	net, err := policy.NewNet(config, rand.NewPCG(1, 1))
	must(t, err)
	learner, err := policy.NewLearner(net)
	must(t, err)
	batch, env, draw := learner.NewBatch(), arithmetic.NewEnumerator(), rand.New(rand.NewPCG(1, 2))
	seeds := make([]uint64, config.Batch)
	begin := func(i int) { must(t, env.Start(tools.Sound, strconv.Itoa(i%3), seeds[i])) }
	for n := range 3000 {
		for i := range seeds {
			for again := true; again; again = env.HasShortcut() {
				seeds[i] = draw.Uint64()
				begin(i)
			}
			batch.Prompts[i].Context, batch.Prompts[i].Stage = env.Context(batch.Prompts[i].Context[:0]), i%3
		}
		must(t, learner.Sample(batch, draw))
		batch.Play(begin, env.Act)
		metrics, err := learner.Update(batch)
		must(t, err)
		if metrics.Reward > 1.4 {
			t.Logf("trained in %d updates", n+1)
			return net
		}
	}
	t.Fatal("the stages were not learnt in 3000 updates")
	return nil
}

// TestMacrosOfThePolicy makes macros of the plans that a policy found, trained
// here, and has them answer every task of the stages by one decision each.
func TestMacrosOfThePolicy(t *testing.T) {
	library := skill.NewLibrary(tools.Sound)
	experiment := skill.MacroExperiment{Spec: arithmetic.Spec(), Levels: []string{"0", "1", "2"}, Further: []string{"large"}, Episodes: 20, Tasks: 200,
		Teacher: planner{trained(t), arithmetic.NewEnumerator()}}
	must(t, experiment.Learn(t.Context(), library, func(skill.Episode) error { return nil }))
	results, err := experiment.Evaluate(t.Context(), library, func(skill.Episode) error { return nil })
	must(t, err)
	if len(results) != 15 { // the policy does not know level large
		t.Errorf("%d grades", len(results))
	}
	for _, g := range results {
		t.Logf("%+v", g)
		if g.Agent == "macros" && (g.Solved != g.Tasks || g.Decisions > 1) {
			t.Errorf("%+v", g)
		}
	}
}
