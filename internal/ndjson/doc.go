// Package ndjson answers a file line by line, on several cores and in order.
//
// [Each] reads lines, gives them to a function, and writes one answer for each
// line that it read. Lines wait in bounded queues only, so that memory does not
// grow with the file, and answers are written as soon as the input pauses, so
// that who sends a line and waits is answered.
package ndjson
