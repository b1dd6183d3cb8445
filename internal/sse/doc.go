// Package sse writes and reads Server-Sent Events (WHATWG HTML, section 9.2), as
// far as toolgym's streams use them: the fields id, event and data, comments,
// and an empty line behind each event.
//
// The format has no end: a stream that breaks off looks like one that is over.
// What an end is, the events themselves have to say.
package sse
