package main

import (
	"fmt"
	"strings"

	"toolgym/internal/modelserver"
)

// words are the command that plays the same again, under a new name. Addresses
// are without credentials.
func (c evalCommand) words() []string {
	words := []string{"toolgym", "eval", "--model", c.Model}
	add := func(flag string, values ...string) {
		for _, value := range values {
			if value != "" && value != "0" {
				words = append(words, flag, value)
			}
		}
	}
	for _, address := range c.Ollama {
		add("--ollama", modelserver.Display(address))
	}
	if c.OpenAI != "" {
		add("--openai", modelserver.Display(c.OpenAI))
	}
	add("--env", c.Env...)
	for _, level := range c.Level {
		words = append(words, "--level", level)
	}
	add("--rules", c.Rules)
	add("--suite", c.Suite)
	for _, number := range []struct {
		flag  string
		value int
	}{{"-n", c.N}, {"--limit", c.Limit}, {"--trials", c.Trials}, {"--num-ctx", c.NumCtx}, {"--num-predict", c.NumPredict}, {"--max-turns", c.MaxTurns}, {"--timeout", c.Timeout}, {"--max-reply-bytes", c.MaxReplyBytes}, {"--concurrency", c.Concurrency}} {
		add(number.flag, fmt.Sprint(number.value))
	}
	add("--seed", fmt.Sprint(c.Seed))
	if c.SampleSeed != nil {
		words = append(words, "--sample-seed", fmt.Sprint(*c.SampleSeed))
	}
	add("--route", c.Route)
	if c.Temperature != nil {
		words = append(words, "--temperature", fmt.Sprint(*c.Temperature))
	}
	return words
}

// quote makes one word of a name, as a shell reads it.
func quote(word string) string {
	if strings.ContainsAny(word, " \t\n\"'`$&|;<>()*?[]{}~#!\\") || word == "" {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}
