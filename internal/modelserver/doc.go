// Package modelserver makes HTTP requests to servers of language models, whose
// replies are not trusted:
//
//	response, err := modelserver.New(nil).Do(request)
//	text, err := modelserver.Read(response.Body, modelserver.MaxReply)
//
// [New] makes a client that follows no redirect, since a prompt must not reach
// an address that the user did not name, and uses no proxy for a server on this
// machine. [Read] reads at most a number of bytes of a body, counted after
// decompression, so that a small compressed reply cannot fill the memory.
// [Display] is an address without its credentials, for errors, logs and reports.
package modelserver
