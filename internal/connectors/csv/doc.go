// Package csv reads and writes delimited text: CSV, TSV, and the files that
// databases export in such shapes.
//
// # The grammar
//
// A record is fields with the delimiter between them, and ends with a line
// end or with the file. A field whose first byte is the quote is quoted: it
// runs to the closing quote, whatever line ends and delimiters it holds, and
// a quote within it is doubled. A quote that is not the first byte of its
// field is a byte like any other. With the backslash style a backslash makes
// the quote, the backslash and a line end after it literal, and in a field
// without quotes also the delimiter; before anything else it is itself.
//
// PostgreSQL's COPY reads the same records in every text but those with a
// quote within a field: there it begins or goes on with a quoted part, and
// loses the quote. It also wants all lines to end alike.
//
// Line ends are LF or CRLF, either in one file, or bare CR where that is the
// first line end of the file outside quotes. Line ends within quotes, and all
// other bytes of a field, are kept as they are.
//
// # NULL
//
// A field without quotes whose text is the null token is NULL. The token is
// empty by default, so that a bare empty field is NULL and "" is the empty
// text, as in PostgreSQL. An empty line is one empty field: a record where
// there is one column, dirty where there are more.
//
// # Dirty records
//
// A record of too few or too many fields, text after a closing quote, and a
// quote that is never closed (the record then runs to the end of the split)
// are dirty; all other records are loaded.
//
// # In memory
//
// A decoder cuts a chunk in place: cells are spans into it, and quotes are
// undoubled where they stand. It finds delimiters and line ends 64 bytes at a
// time. A decoder, a cutter and an encoder belong to one goroutine each.
package csv
