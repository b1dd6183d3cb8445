// Package atomicfile writes files atomically: the name refers to the old content
// or to the new content, never to a part, even when the machine stops.
//
// [Write] fills a temporary file in the same folder, flushes it, renames it over
// the old one and flushes the folder. After an error, the old file is unchanged
// and the temporary file is removed.
package atomicfile
