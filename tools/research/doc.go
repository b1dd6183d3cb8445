// Package research is the gym's environment of search and calculation: what did
// a share price do after a quarterly report? It is the published reward lab's
// example, whose answer is 14.17 %.
//
// # Tasks
//
//	level  asks about                        what the search shows
//	"0"    one company's report              the two closing prices
//	"1"    two reports, in percentage points the two closing prices
//	"2"    one company's report              six closing prices and other figures
//
// At level 1 the second report is the same company's of another quarter, or
// another company's of the same quarter. At level 2 the right two prices follow
// from the time of the report: after the close of its day, or before the
// opening. Seed 0 asks about Halden Robotics in Q3 2024 at every level: 120.00
// before, 137.00 after. There are the sound rules only.
//
// # Tools
//
// financial_search takes a company (name or ticker, case does not count), a
// quarter and a topic, share_price or results. A name that fits several
// companies is answered with their names. calculator is that of package
// internal/calculator. Both can be called without an episode.
//
// # The corpus
//
// 120 companies and twelve quarters, all invented: 1,440 reports, each drawn
// from its company's and its quarter's number when it is asked for. Prices and
// revenues of a company are one walk through the quarters, trading days are
// weekdays, and a reaction is at least 2 %, which no other day around a report
// reaches. A test pins a fingerprint of the whole corpus.
//
// # Completion
//
// The first message without calls ends the episode: it is the answer. It
// completes the task when both hold:
//
//   - It rests on tool results: the share prices of every report that the task
//     asks about came back from a search in this episode. The answer then
//     follows from them; the calculator may be used or not. A right number that
//     was guessed, or looked up elsewhere, completes nothing.
//   - It states the right number, the exact change rounded to two decimals,
//     within 0.01 (14.16 to 14.18 for 14.17), and no other.
//
// What is read of a message are the numbers marked as percentages or percentage
// points, or all numbers where none is marked. One must be right. Each other one
// must lie on the way to it: the same number rounded further, a step of the
// calculation, or a figure that a search returned. So an explanation may repeat
// what it rests on, and a list of guesses is no answer. Numbers are read exactly, in English notation, to 32 digits. A
// number without a sign is negative when the words of its clause say so ("fell
// by 3.52 %").
//
// An episode pays 1 when it is completed, else 0, and lasts 16 calls at most.
//
// Under the default rubric of package grpo, the lab's three turns (search,
// calculate, answer) score 1.0 + 1.5 + 3.0 − 0.15 = 5.35, and the right number
// out of the air 1.0 + 0 + 0 − 0.05 = 0.95.
package research
