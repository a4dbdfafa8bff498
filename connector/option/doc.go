// Package option turns the options of a connector, as a job file or a URL
// gives them, into a struct that declares them by its tags:
//
//	type SinkOptions struct {
//		URL     option.Secret   `option:"url,required" doc:"connection URL"`
//		Mode    string          `option:"mode" default:"append" enum:"append,upsert" doc:"what happens to rows that are there"`
//		Roll    option.Size     `option:"roll_size" default:"128MiB" doc:"size at which a new file begins"`
//		Timeout option.Duration `option:"timeout,tuning" default:"5s" doc:"how long to wait for a lock"`
//	}
//
// # Tags
//
//	option   the name, then flags: "required" (must be given, and not empty);
//	         "tuning" (changes nothing of what is read or written, so that an
//	         unfinished run may go on with another value); "whole" (a text
//	         for a list is one item, whatever commas it holds)
//	default  the value as text; without it the zero value
//	enum     the allowed texts, with commas between
//	doc      the meaning, one phrase
//
// Fields without an option tag are not options. Anonymous structs add their
// fields. A pointer stays nil when its option is not given.
//
// # Types
//
// Strings, bools, integers, floats, Size, Duration, Secret, anything that has
// UnmarshalText, pointers to these, slices of these (a text that is words with
// commas between is split), maps from strings to these, and structs of options, also in
// slices. A scalar may come as its own Go type or as text, so that values of
// job files, URLs and Go code are all taken.
//
// Parse, Describe and Identity all read the same declaration; a declaration
// that is itself wrong is a bug and panics.
package option
