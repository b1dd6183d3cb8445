// Package golden compares what a test got with a file of its testdata that holds
// what is right.
//
// A test that uses it has a flag -update, with which the file is written anew.
// Whoever sets it reads the change before it is kept.
package golden
