// Package refusal makes and moves the errors for a caller's mistakes, each a
// [*tools.Error] that says what is wrong, where, and what would be right.
//
// Who finds a mistake knows its place within what it was given, as a JSON
// pointer; a caller puts the place of that in front ([Below]),
// names the parameter that it came in ([Move]), or tells the place in the words
// of its own caller ([Relocate]). Errors of any other kind are passed on as they
// are, except by [Of], which is for readers of text that the caller wrote.
package refusal
