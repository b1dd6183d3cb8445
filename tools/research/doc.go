// Package research is an environment of search and calculation: what did a share
// price do after a quarterly report? It extends the example of a published reward
// lab, whose answer is 14.17 %.
//
// # Tasks
//
//	level  question about                    the search returns
//	"0"    one company's report              the two closing prices
//	"1"    two reports, in percentage points the two closing prices
//	"2"    one company's report              six closing prices and other figures
//
// At level 1 the second report is the same company's of another quarter, or another
// company's of the same quarter. At level 2 the time of the report tells which two
// prices count: it was published after the close of its day, or before the opening.
// Seed 0 asks about Halden Robotics in Q3 2024 at every level: 120.00 before, 137.00
// after. The environment has the sound rules only.
//
// # Tools
//
// financial_search has the arguments company (name or ticker, case-insensitive),
// quarter and topic (share_price or results). If several companies match, it returns
// an error with their names. calculator evaluates an expression exactly. Both can be
// called without an episode.
//
// # The corpus
//
// The corpus has 1,440 invented reports: 120 companies and twelve quarters. Each
// report is computed when needed, from a source seeded with its company and quarter.
// Prices and revenues of a company are a random walk through the quarters; trading
// days are weekdays; the price changes by at least 2 % on a report and by less on the
// other days around it. A test checks a hash of the whole corpus.
//
// # Success
//
// The first message without calls is the answer and ends the episode. It solves the
// task if both hold:
//
//   - The share prices of every report in the question were returned by a search in
//     this episode. The calculator need not be used. A correct number that was
//     guessed or found elsewhere does not solve the task.
//   - It states the exact change rounded to two decimals, within 0.01 (14.16 to 14.18
//     for 14.17), and no wrong number.
//
// The numbers that count are those marked as percentages or percentage points, or all
// numbers if none is marked. One must be the target. Every other one must be the
// target rounded further, an intermediate value of the calculation, or a number that
// a search returned: an answer may show its calculation, but not list guesses.
// Numbers are read exactly, in English notation, with up to 32 digits. A number
// without a sign is negative if the words of its clause say so ("fell by 3.52 %").
//
// The reward is 1 if the task is solved, else 0. An episode has at most 16 steps.
//
// Under the default rubric of package grpo, the three turns search, calculation and
// answer score 1.0 + 1.5 + 3.0 − 0.15 = 5.35, and the correct number without a search
// 1.0 + 0 + 0 − 0.05 = 0.95.
package research
