// Package parquet reads and writes Parquet files. Package format below it has
// the file format; here are the columns and their meaning.
//
// # Writing
//
// A Parquet file cannot be cut: it ends in a footer that tells where everything
// is. The sink is that of package files, whose attempts append to files of
// their own; what it appends here are packs. A pack is a row group with the
// metadata that the footer needs of it behind it, synced and recorded by each
// commit. Finishing makes the footer of the packs that were recorded, in the
// order in which they stand, and readers pass over what stands between row
// groups. So a crash loses no more than the rows since the last commit, no
// commit begins a new file, and nothing that was synced is encoded again.
//
// A column of a row group is encoded with a dictionary while one pays, which is
// looked up by the texts of cells; whole numbers as differences where a trial
// has shown those to be smaller.
//
// # Reading
//
// A split is some row groups of a file; a position is a row group and a row of
// it. Columns are decoded a window of values at a time, which become texts at
// once, and rows are put together of the windows. Each page's checksum is
// compared where it has one. That a column gives as many values as its row
// group has rows, and that row groups together have as many as the file, is
// proved (exactness rule 12).
//
// Nested columns are JSON.
//
// # Bytes
//
// Bytes, as counters and limits have them, are those of the values: one of a
// bool, four or eight of numbers and times, the length of texts and of values
// of fixed length, that of the JSON text of nested ones; nothing of NULL.
package parquet
