// Package dialect translates between what trainers already send and requests of
// package grpo, so that they can use this server without glue code.
//
// # OpenRLHF
//
// A remote reward function (OpenRLHF 3c3be62) is asked with three parallel
// lists: query, each a prompt and the response behind it; prompts; and labels,
// which carry the task. It answers with rewards, scores and extra_logs, in which
// every value must be a finite number. [OpenRLHF] takes such a question apart,
// and [Asked.Rewards] puts the answer together. No group is named: completions
// of equal prompts, with equal labels, are one.
//
// A reward that is null can not be expressed there. Such an answer is refused as
// unavailable with the reason, and the trainer tries again.
package dialect
