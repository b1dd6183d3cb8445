// Package dialect converts the requests of trainers to requests of package grpo,
// so that they can use this server without glue code.
//
// # OpenRLHF
//
// A remote reward function (OpenRLHF 3c3be62) gets three parallel lists: query,
// with a prompt followed by the response; prompts; and labels, with the task. It
// returns rewards, scores and extra_logs, whose values must be finite numbers.
// [OpenRLHF] converts such a query, and [Query.Rewards] makes the answer. Groups
// have no names: completions with equal prompts and equal labels are a group.
//
// A null reward cannot be expressed. The answer is then the error unavailable
// with the reason, and the trainer tries again.
package dialect
