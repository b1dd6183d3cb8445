// Command gen trains the policies of package trained and writes them into the
// folder that it is started in. It fails when one does not come to what its
// manual promises, so that a bad one is never kept. Run it by
//
//	go generate ./policy/trained            all of them, in about three minutes
//	go run ./gen gridworld-1                in that folder: one alone
package main
