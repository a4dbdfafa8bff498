// Package database is what the connectors of database servers share: their
// side of what is the same whatever the server's dialect.
//
// A connector keeps to itself what its server alone knows: the session, the
// encoding of rows, the catalogue, the statements that differ. From here it
// takes
//
//   - the books of a target (Ledger): markers of runs and rows of splits, read,
//     moved, judged and closed (exactness rules 1 to 3 and 14), with the order of
//     a writer's last steps (Commit), and what test builds may break (Rules);
//   - what writers have in common (Writing, Chunk), and how those of the same
//     rows make room for each other (Crowd);
//   - splits by ranges of a key (Keyed, Range, Size, Cursor) and positions;
//   - names and quotes (Quotes), the options that all have, and the location
//     and declaration as a connector.
//
// Nothing here holds a connection: a Session is lent for the call.
package database
