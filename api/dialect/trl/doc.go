// Package trl writes the configured reward as a training script for Hugging
// Face TRL's GRPOTrainer.
//
//	settings := trl.Default()
//	settings.Server, settings.Env, settings.Level = "http://127.0.0.1:8080", "arithmetic", "2"
//	settings.Rubric, settings.Loss.Beta, settings.Generations = rubric, 0.05, 8
//	script, err := settings.Script()
//
// # What the script does
//
// It gets tasks and tools from a toolgym server, passes the tools to the model's
// chat template (and stops if the template drops them), and trains by GRPO. Its reward function sends the completions of a step in one
// call of POST /v1/score, with the rubric of the settings; the criteria are
// logged with TRL's own metrics. It needs Python 3.10, trl, transformers,
// datasets, and peft for LoRA; requests use the standard library. The
// token of the server is read from TOOLGYM_TOKEN and never written into the
// script.
//
// # Versions of TRL
//
// The arguments of GRPOConfig differ between releases. The script sets those of
// the installed release, and prints the others. Tests of package api
// run it against the arguments of 0.14.0, 1.1.0, 1.10.0 and 1.13.0, with the tools
// of a live server.
//
// A completion whose failure is not the model's has a null reward. In TRL 1.10
// and later that is None, and the completion is left out of its group
// (huggingface/trl#5902). Earlier releases stop at None or read it as 0; they get
// the mean of the rest of the group, which gives the completion the advantage 0.
//
// The completion is decoded from its tokens if TRL passes them: its text lacks the
// special tokens with which calls begin in some families. Each completion is one
// turn, with all its calls; an episode of several turns is sent as messages.
//
// # Values in the script
//
// All values of the settings, including names of models, are written as Python
// literals only, never into comments or text, so that a setting cannot become
// code.
package trl
