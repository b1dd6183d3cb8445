// Package disk writes files so that a stop of the machine leaves no half ones.
//
// [Write] fills a temporary file in the same folder, flushes it, renames it over
// the old one and flushes the folder: under the name there is the old content or
// the new, whenever the machine stops. What fails leaves no scraps.
package disk
