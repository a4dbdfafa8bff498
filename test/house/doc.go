// Package house holds the rules of the source tree itself: which package may
// import which, how long files and functions may be, and what no file may hold.
//
// Each rule is a function from a parsed tree to findings. One test applies it to
// this module, another to a sample that breaks it, so that a rule which finds
// nothing any more is noticed.
package house
