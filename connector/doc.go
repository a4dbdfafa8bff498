// Package connector is the seam between Leat's engine and the systems it
// moves records between. A connector is a Source, a Sink, or both, made from
// options that it declares as a struct; a Registry holds them by name.
//
// # A run, seen from the seam
//
//	source.Schema                 what columns there are
//	sink.Resolve(schema)          the target's columns and types; changes nothing
//	sink.Prepare(run)             once per run, again after each crash
//	source.Enumerate(cursor)      splits, stored before the first is handed out
//	sink.Register(splits)         after they are stored
//	per attempt at a split:
//	    sink.Claim(attempt)       fences older attempts, says where to go on
//	    source.Open(split, position)
//	    reader.Next … writer.Write … writer.Flush, writer.Commit
//	sink.States                   what the target says is durable
//	sink.Finish(states)           makes the result visible, once
//
// # How a sink commits
//
// It says so as data, by Guarantee: WithPosition (databases: the split's
// position commits in the transaction of its rows, and the target's word
// counts), Staged (files: each attempt writes files of its own, which Finish
// makes visible; the engine's stored word counts) or AtLeastOnce.
//
// # Errors
//
// Every error has a class, see Class. A connector wraps with E; an unclassed
// error is Permanent. Its text says what was being done and with what (a table,
// a file): the engine adds no more than the split. Nobody retries a write: an error of a Writer ends the
// attempt, and the next one claims again.
//
// # Memory and goroutines
//
// Source and Sink methods may be called from several goroutines at once;
// a Reader and a Writer belong to one goroutine at a time each (the reader's
// and the writer's are not the same). A batch given to Write belongs to the
// writer, which releases it. Each method honours its context within a second.
package connector
