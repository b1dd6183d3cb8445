// Package lab is the reward lab: the pages on which people see rollouts, rewards
// and trainings happen, on the server that does them.
//
//	pages, err := lab.New(lab.Config{Specs: specs, Scorer: scorer, Runs: runs, Evals: desk, …})
//	for _, route := range pages.Routes() { … }
//
// # What a page is
//
// A page is a template of Go's html/template with what the server knows, whole
// and readable without a script. Its state is its address: all settings stand in
// the query, under the names of [Settings], so that a page can be kept, sent and
// gone back to. A small script (static/lab.js) makes it live: a form marked
// data-live is sent as its controls move, and the part of the page that the
// answer replaces is the same template, drawn again by the server.
//
// Charts are drawn by the server as SVG (package internal/chart), in colours that
// the style sheet names, so that they follow the page from light to dark.
//
// # The front page
//
// One task, two agents. Policies and baselines play it anew for every request:
// that takes milliseconds, and the same settings give the same episodes. A model
// of an Ollama server plays when it is told to (POST /lab/play); what it said is
// kept, for its owner, and scored again as sliders move. Rewards, advantages,
// the clipped loss and the divergence come from [grpo.Scorer.Score], with the
// weights and the objective that are set.
//
// The left column's policy samples the group: its log-probabilities are the old
// ones, and the reference's; the right column's policy learns. Their divergence is
// measured over plans of the right one's own, since k3 estimates D(right ‖ left)
// over samples of the right: over the left one's it has another mean, which grows
// without bound as the two part. What is not known, such as the
// log-probabilities of a model's tokens, is said to be unknown.
//
// Where a policy cannot play a task, another player stands in its place, and its
// column says so and why: no policy is embedded for that level, or the one that is
// shown cannot read the task. It also says when a policy was not trained on the
// level, or on this very task.
//
// What the three explanations promise is tested as what their links show.
//
// # Trainings
//
// /lab/training starts, holds and stops the trainings of POST /v1/policy/runs by
// that resource's own routes, and shows them: run=ID, up to six times, lays runs
// over each other, bound=X moves the divergence above which the page warns.
// /lab/training/events sends a frame (figures, drawings, and the values of their
// points in words) whenever there is something new, at most about every 125 ms
// and for at most half of a processor's time; a client that is slow gets fewer
// frames and never an old one. A line has at most 200 points: the first and the
// last update, and in between means over as many neighbours as it takes.
// /lab/training/curves/csv has every update.
//
// # The playground
//
// A completion is read by the code of POST /v1/parse and scored by that of POST
// /v1/score. What is found in it becomes findings, each with a place; the places
// are drawn over the text by cutting it at all their borders, so that they may lie
// across each other. Each kind of place has a line of its own and a numbered
// marker, so that no colour is needed.
//
// # Evaluations
//
// The pages show to a caller what /v1/evals shows to the same caller, and begin,
// cancel and delete by the code of its routes ([Evaluations]). What runs is looked
// at again every second. Agents without a language model (idle, random, oracle) can
// be evaluated like models, for something to compare with. Every page of one sets them
// beside the model: they play once, and where that takes more than two seconds the
// page comes without them, and they follow.
//
// # What keeps it safe
//
// Pages load nothing from elsewhere and run no inline script; the server sends
// the policy that says so ([Policy]). What people paste and models write is put
// in by html/template alone, as text.
//
// Who may see a page is the server's business: a Route names the role.
package lab
