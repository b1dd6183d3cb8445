// Package skill is procedural memory: sequences of calls that worked once are
// kept as skills, found again and reused.
//
// A [Skill] has a name, preconditions (flags of the state), calls, an embedding
// of eight numbers and counts. A [Library] keeps skills: [Library.Add] merges a
// skill into one that is like it, [Library.Retrieve] finds those that apply,
// [Library.Count] notes what came of them, and retires those that fail.
// [Extract] finds skills in any tools.Trajectory, whoever played it.
//
//	library, err := skill.Load("library.json")
//	agent := skill.NewAgent(library, explorer)
//	trajectory, err := tools.Rollout(ctx, env, task, agent)
//	err = agent.Learn(trajectory)
//	err = library.Save("library.json")
//
// [Course] lets an agent learn on the gridworld, from five seeds, and the same
// explorer without skills play the same tasks; RESULTS.md has the figures.
//
// # What an agent knows on the gridworld
//
// Exactly what a language model is told: the prompt, with the places of key,
// door, goal, boxes and wall, and the state that every tool answers with. It is
// told which target is next (that follows from the flags), and is told nothing
// about what any tool does. The explorer chooses among the tools blindly: at
// random, or the one that was tried least in the state.
//
// What makes a skill reusable on another layout is that it is about offsets:
// it keeps where each of its calls led, as seen from its start. An episode is cut at
// its milestones (key, door, goal), loops are removed, and what remains gives
// skills that end with a milestone whose place lies at a given offset, and short
// ways that gain nothing but an offset; the explorer's detours shrink since of two
// skills with the same effect the shorter stays. Whether a skill applies is
// decided without trying it: its flags must hold, the next target must lie at
// its end, and the cells of its path must be free, as far as the agent knows.
// Where no single skill reaches the target, a chain is composed: the shortest sequence of
// known ways over free cells that ends with a skill for the milestone. Both are
// search in a model of the world, and the model is made of skills.
//
// A chain that worked becomes one skill after the episode. A skill that does not
// lead where it once led fails; one that failed three times, and more
// often than it succeeded, is retired.
//
// At level 4, where places are hidden, skills help once a place was seen.
//
// # The documented rules and their defects
//
// Under the documented rules the published agent is reproduced: it walks straight to
// the next target, and after a success the last five steps become a skill.
//
//  1. Nothing improves: the exploration is optimal already, and every episode gives
//     12.3 in 10 steps. Mended: the explorer knows nothing.
//  2. The success rate counts every merge as a success and not as a use, so that
//     it exceeds 100 %. Mended: only executions count.
//  3. The embedding hashes the agent's place with a hash that is another in every
//     process, so that no library can be saved. Here it is FNV-1a; mended: the embedding
//     is made of the features of the state.
//  4. Skills that are similar are merged whatever they do. Mended: they must have
//     the same effect as well.
//  5. A skill is the end of an episode, whatever lies in it. Mended: it ends at a
//     milestone.
//
// # Skills as tools
//
// [Offer] adds the skills of a library to the tool list of an environment, so that
// anybody can call skill_NAME: a language model, a langchaingo agent, a client
// over REST or MCP. The description says what it does and its preconditions; one that
// does not hold gives an error result that names it.
//
// # Arithmetic
//
// A plan that solved a task becomes a macro: its calls, with every number
// replaced by where it came from (an operand of the task, or the result of an earlier
// call). Its precondition is the shape of the task's expression, with # for each
// number. [Lesson] makes macros of what a teacher plays and measures them.
// A number may have come from two places by accident; such a macro fails on other
// tasks, and is retired like any other.
//
// # Files
//
// [Library.Save] and [Load] keep a library as JSON with a version. What a file
// holds is checked when it is read. Two processes may write into one file: each
// brings in what it has learnt since it read, under a lock.
package skill
