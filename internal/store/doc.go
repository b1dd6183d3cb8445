// Package store keeps evaluation runs, and the episodes that a server plays, in
// one SQLite file.
//
//	db, err := store.Open(ctx, filepath.Join(data, "toolgym.db"))
//	defer db.Close()
//	err = db.Begin(ctx, run, "")  // a new run without an owner
//	err = db.Keep(ctx, record)    // one trial, on disk when this returns
//	trials, err := db.Trials(ctx, "name")
//
// # What is kept
//
//   - runs: one row a run, with its plan as JSON and the token that it belongs to;
//
//   - tasks: prompt, tools and what is expected of each task, once for each
//     (name, hash), shared by the runs; run_tasks lists those of a run in order;
//
//   - trials: what the model said, as it came, with the options, the model's
//     digest, the server's version, times and token counts;
//
//   - verdicts: what a trial was judged to be. Judging again adds a row; the
//     newest counts.
//
//   - episodes: one row an episode of a server, steps: one a step, as it was
//     answered, with the request's id. [Store.Claim] gives them to one server.
//
// The statements are in migrations/, in the order of their numbers; a migration
// that was released is never changed. [Open] applies those that are missing and
// refuses a file that a newer program has migrated.
//
// # What is promised
//
// Trials and verdicts are append-only: triggers refuse an update. Of one
// (run, task, route, model digest, trial) there may be several rows that the
// infrastructure failed and at most one other; an index refuses a second, from
// whatever process it comes.
//
// The file is in WAL mode with full synchronisation: what was kept survives a
// kill at any moment, and a power cut. One goroutine writes, and commits
// together what waits together, so that many small writes cost few
// synchronisations; a pool of connections reads beside it. Other processes may
// read and write at the same time.
//
// # Errors
//
// What the caller can mend is a [*tools.Error]: conflict for a file of a newer
// program, for a run that exists with another plan and for a trial that is
// there already; not_found for an unknown run; unavailable for a file that is
// locked, damaged or cannot be opened; exhausted for a full disk.
package store
