// Package grpo grades what a model wrote and turns the grades of a group of
// completions into what a GRPO trainer needs.
//
// The manual grows with the package.
package grpo
