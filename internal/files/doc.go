// Package files reads and writes records in text files: what csv and jsonl
// have in common. A Format cuts and makes the text; Source and Sink do the
// rest, through a storage.FS.
//
// # Reading
//
// The paths (files, folders, patterns) are listed once. A file's identity is
// its size, time of change, and hashes of head and tail; it stands in each of
// its splits and is compared when a split is opened and at its end. A large
// file is cut at record ends, found by following the records from the file's
// start, since only that tells a quoted line end from another. The first step
// of that goes through little, so that work begins at once. A file that is
// compressed or in another encoding is one split.
//
// A position is "byte:line": the byte after the last record, in the file, or
// in the decoded text of a file that is compressed or in another encoding,
// where going on means to decode and skip up to it.
//
// A record with bytes that are none of the named encoding is dirty, and its
// reason says where they stand in the file.
//
// Standard input is one split without positions.
//
// # Writing
//
// The states of a run, seen in the target's folder:
//
//	nothing         Prepare has made the target's folder
//	writing         .leat-<run>/ holds files of attempts
//	settled         .leat-<run>/manifest.json says what becomes visible
//	finished        .leat-<run>/finished.json, the manifest renamed
//	gone            Close, or the next run's Prepare, has renamed the folder to
//	                .leat-<run>-gone and removed it
//
// Invariants, by the rules of exactness 9 to 11:
//
//   - A file has one process and slot that adds to it; its name holds the
//     token of the attempt that made it. Attempts of a slot go on in its file
//     one after another. One that ends with records not committed cuts the
//     file back to what is, and nobody adds to it again.
//   - Commit returns once the data is synced, and the file's name. A
//     compressed file's member is then closed, so that each segment can be
//     read by itself and segments can be put one behind another.
//   - What is in no recorded segment counts for nothing.
//   - A file is renamed as it is only when its segments leave no gap and
//     nobody can add to it: this process wrote and closed it, or its last
//     segment says that it is sealed. Others are copied, segment by segment.
//   - Before the manifest is durable nothing is visible; after it, doing what
//     it says again changes nothing.
//
// A crash leaves one of these states; Finish goes on from each.
package files
