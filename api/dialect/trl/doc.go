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
// It takes tasks and tools from a toolgym server, shows the tools to the model
// by the model's own chat template (and stops when the template drops them),
// and trains by GRPO. Its reward function sends the completions of a step in one
// call of POST /v1/score, with the rubric of the settings; the criteria are
// logged beside TRL's own figures. It needs Python 3.10, trl, transformers,
// datasets, and peft where there is LoRA; the server is asked by the standard
// library. A server with tokens is sent the one in TOOLGYM_TOKEN, which is never
// written into the script.
//
// # Versions of TRL
//
// The arguments of GRPOConfig differ from release to release. The script sets
// those that the installed one has, and prints the others. Tests of package api
// run it against the arguments of 0.14.0, 1.1.0, 1.10.0 and 1.13.0, with the tools
// of a live server.
//
// A completion that can not be held against the model has a null reward. To TRL
// from 1.10 on that is None: no part of its group (huggingface/trl#5902). Earlier
// releases stop at None or take it for 0; they are told the mean of the rest of
// the group, which gives the completion the advantage 0.
//
// What the model wrote is read from its tokens where TRL passes them on: the text
// lacks the special tokens, with which calls begin in some families. Each
// completion is one turn, with all its calls; an episode of several turns is sent
// as messages where a trainer plays one.
//
// # Values in the script
//
// Everything that settings bring along, names of models included, is written as
// a Python literal and stands nowhere else: not in a comment, not in a text. What
// a setting says can not become code.
package trl
