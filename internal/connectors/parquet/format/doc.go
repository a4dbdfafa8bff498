// Package format is Parquet's file format without any meaning of the values:
// the metadata of footers and page headers, the encodings of values and
// levels, and the compressions.
//
// What it reads may be broken or hostile. No claim of a length is believed
// before the bytes for it are there: lists grow as their elements are read,
// runs of levels and indexes are handed out piece by piece, and decompressed
// pages are bounded. Nothing panics.
package format
