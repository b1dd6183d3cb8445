// Package skill is procedural memory: sequences of calls that worked once are
// kept as skills, retrieved and reused.
//
// A [Skill] has a name, preconditions (flags of the state), calls, an embedding
// of eight numbers and counts. A [Library] keeps skills: [Library.Add] merges a
// skill into a similar one, [Library.Retrieve] finds those that apply,
// [Library.Count] counts executions and retires skills that fail. [Extract]
// finds skills in the tools.Trajectory of any agent.
//
//	library, err := skill.Load("library.json")
//	agent := skill.NewAgent(library, explorer)
//	trajectory, err := tools.Rollout(ctx, env, task, agent)
//	err = agent.Learn(trajectory)
//	err = library.Save("library.json")
//
// [Experiment] trains an agent on the gridworld, with five seeds, and plays the
// same tasks with the same explorer without skills; RESULTS.md has the figures.
//
// # What an agent knows about the gridworld
//
// An agent gets what a language model gets: the prompt, with the places of key,
// door, goal, boxes and wall, and the state in the result of every tool. It knows
// the next target, which follows from the flags, and nothing about the effects of
// tools. The explorer chooses a tool at random, or the one that was tried least
// in the state.
//
// Skills work on other layouts because they use offsets: a skill keeps the
// displacement after each of its calls. An episode is divided at its milestones
// (key, door, goal) and its loops are removed. The rest gives skills that end
// with a milestone at a given offset, and short moves. Of two skills with the
// same effect the shorter is kept, so that the explorer's detours disappear.
// Whether a skill applies is decided without trying it: its flags must hold, the
// next target must be at its end, and the cells of its path must be free, as far
// as the agent knows. If no single skill reaches the target, a chain is composed:
// the shortest sequence of known moves over free cells that ends with a skill for
// the milestone.
//
// A chain that worked becomes one skill after the episode. A skill whose effect
// differs from the expected one has failed; after three failures, if they are more
// than its successes, it is retired.
//
// At level 4, where places are hidden, skills help after a place was seen.
//
// # The documented rules and their defects
//
// Under the documented rules the published agent is reproduced: it walks directly
// to the next target, and after a success the last five steps become a skill.
//
//  1. Nothing improves: the exploration is optimal already, and every episode has
//     return 12.3 in 10 steps. Here the explorer knows nothing.
//  2. The success rate counts every merge as a success and not as a use, so that
//     it exceeds 100 %. Here only executions count.
//  3. The embedding uses a hash of the agent's place that differs between
//     processes, so that no library can be saved. Under the documented rules this
//     package uses FNV-1a; the sound embedding has features of the state.
//  4. Similar skills are merged whatever they do. Here they must have the same
//     effect.
//  5. A skill is the end of an episode, whatever it contains. Here it ends at a
//     milestone.
//
// # Skills as tools
//
// [AddTools] adds the skills of a library to the tools of an environment, so that
// any agent can call skill_NAME: a language model, a langchaingo agent, a client
// over REST or MCP. The description has the effect and the preconditions; a call
// whose precondition does not hold is an error result that names it.
//
// # Arithmetic
//
// A plan that solved a task becomes a macro: its calls, with every number
// replaced by its source (an operand of the task, or the result of an earlier
// call). Its precondition is the form of the task's expression, with # for each
// number. [MacroExperiment] makes macros of a teacher's episodes and evaluates
// them. The source of a number can be ambiguous; a macro with the wrong source
// fails on other tasks and is retired.
//
// # Files
//
// [Library.Save] and [Load] keep a library as JSON with a version. The contents
// of a file are validated when it is read. Two processes may write to one file:
// each merges what it has learnt since it read, under a lock.
package skill
