// Package eval runs a model over tasks, several trials each, and says with
// error bars how often it solves them.
//
// # From trials to figures
//
// A [Trial] is one attempt at one task, graded. Every figure is derived from
// trials, and can be derived again. A trial that cannot be graded (the server
// lost the output, the connection failed, the prompt did not fit) is excluded
// and counted by cause, never scored as 0: a [Summary] gives the success rate
// over what was scored, the coverage, and the worst case, in which every
// excluded trial counts as failed. Under 95 % coverage there is no headline,
// but a reason.
//
// The success rate is passed trials over scored trials. Its interval is
// [stats.Wilson] with one trial a task and [stats.Bootstrap] with several, which draws
// whole tasks, since trials of one task are not independent. [stats.PassAt] and
// [stats.PassAll] say what k trials are good for: at least one success, or all.
//
// # Comparing two runs
//
// [Compare] pairs two runs task by task on the tasks that both have scored: an
// exact [stats.McNemar] test with one trial a task, a [stats.SignFlip] permutation test
// with several, the bootstrap interval of the difference, and one plain
// sentence. Where several comparisons are read together, [stats.Holm] adjusts them.
//
// All of it is pure: the same trials and the same seed give the same bytes.
package eval
