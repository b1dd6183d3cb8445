// Package feed is a list of events that grows while it is read, for
// Server-Sent Events: a client that reconnects names the last event that arrived, and
// goes on behind it.
//
//	var f feed.Feed
//	f.Add(text)                    // the writer, any number of times
//	f.Close()                      // nothing more comes
//
//	events, more := f.After(seen)  // a reader: what is there beyond the first seen
//	<-more                         // closed when there is something new to read
//
// Events are numbered from 1 in the order in which they were added. A reader
// that is slow delays no other: all events are kept, and the writer bounds how
// many there are.
package feed
