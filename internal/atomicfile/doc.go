// Package atomicfile writes files so that a failure loses nothing.
//
// [Write] replaces a file atomically: the name refers to the old content or to the
// new content, never to a part, even when the machine stops. It fills a temporary
// file in the same folder, flushes it, renames it over the old one and flushes the
// folder. After an error, the old file is unchanged and the temporary file is
// removed.
//
// [Appender] writes a file that grows. What it cannot write stays in memory, and
// can be written later.
//
// [IsFull] reports whether an error means that the disk is full, so that the same
// write can succeed later.
package atomicfile
