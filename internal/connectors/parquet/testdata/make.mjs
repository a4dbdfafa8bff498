// Writes the file of this folder that DuckDB has made (npm install @duckdb/node-api@1.5.6-r.1).
// Usage: node make.mjs FILE
import { DuckDBInstance } from '@duckdb/node-api';

const connection = await (await DuckDBInstance.create()).connect();
await connection.run(`COPY (
  SELECT * FROM (VALUES
    (1, INTERVAL '14 months 3 days 4005 milliseconds', UUID 'f47ac10b-58cc-4372-a567-0e02b2c3d479', 18446744073709551615::UBIGINT,
     TIME '13:05:00.123456', TIMESTAMPTZ '2024-01-31 13:05:00.123456+00', TIMESTAMP_NS '2024-01-31 13:05:00.123456789',
     'high'::ENUM('low', 'high'), '\\x00\\xFF'::BLOB, [1, NULL, 3], {'x': 1, 'y': 'a'}, MAP {'k': 1.5::DOUBLE}, '{"a": 1}'::JSON, 99999999999999.99::DECIMAL(16,2)),
    (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
  ) AS t(id, i, u, n, t, tz, ns, e, b, l, s, m, j, d)
) TO '${process.argv[2]}' (FORMAT parquet, COMPRESSION zstd)`);
