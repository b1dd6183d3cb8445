// Package baseline holds the agents that every result should be compared with:
// [Random], which calls the tools of any environment at random, and [Idle],
// which does nothing. An environment's own oracle is the third, from above.
//
// Random needs to know nothing about the environment: it draws arguments from
// the tools' schemas. They are valid against them, so that what it earns is
// what chance earns, and not what malformed calls do. It draws from the source
// that is handed in and from nothing else; the same source, task and tools give
// the same calls.
package baseline
