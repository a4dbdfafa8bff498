// Package database is what the connectors of database servers share: their
// side of what is the same whatever the server's dialect.
//
// A connector keeps to itself what its server alone knows: the session, the
// encoding of rows, the catalogue, the statements that differ. From here it
// takes
//
//   - the books of a target (Ledger): markers of runs and rows of splits, read,
//     moved, judged and closed (exactness rules 1 to 3 and 14); Commit is the
//     order of a writer's last steps, Rules what test builds may break;
//   - what is sent and not judged yet (Chunk, Held) and what it counted to (Progress);
//   - splits by ranges of a key (Keyed, Range, Size, Cursor) and positions;
//   - names and quotes (Quotes), the options that all have, and the location
//     and declaration as a connector.
//
// Nothing here holds a connection: a Session is lent for the call.
package database
