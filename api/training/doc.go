// Package training is the trainings that a server runs: started, watched, held,
// resumed and cancelled by requests, each by the trainer of package
// policy/train, in a folder of its own.
//
//	runs, err := training.Open(training.Config{Specs: specs, Dir: dir, Busy: quota.Limits{All: 2, Each: 1}, …})
//	run, err := runs.Start(owner, training.Start{Env: "arithmetic", Algo: "grpo"})
//	err = runs.Hold(run) … runs.Release(run) … runs.Cancel(run)
//	runs.Close()
//
// # The life of a run
//
//	running ⇄ paused      held at the end of an update, in memory
//	running, paused → cancelled
//	running → done | failed
//
// A run that cannot write because the disk is full is paused as well, in memory
// and with the reason in its state. It writes again when it is resumed, and by
// itself from time to time. Its outcome is the same, bit for bit. A run that cannot
// be started for that reason leaves nothing behind.
//
// A run whose server ends, by Close or by a kill, is found paused by the next
// one, and goes on from its last checkpoint when it is resumed; updates made
// since are made again, with the same outcome, bit for bit.
//
// # What is kept
//
// A folder of a run holds run.json, which says whose it is and how it stands,
// and what the command line's trainings hold as well: the telemetry, the curves
// and the checkpoint. Deleting a run deletes its folder.
package training
