// Command gen trains the policies of package trained and writes them into the
// folder that it is started in. It fails when one does not come to what its
// manual promises, so that a bad one is never kept. Run it by
//
//	go generate ./policy/trained
package main
