// Runs one statement in a DuckDB of its own and prints its rows as JSON, an
// array of arrays. Usage: node query.cjs FOLDER THREADS < SQL, where FOLDER is
// that of scripts/install-duckdb.
const { createRequire } = require('node:module');
const { readFileSync } = require('node:fs');

async function main() {
  const [folder, threads] = process.argv.slice(2);
  const { DuckDBInstance } = createRequire(folder + '/')('@duckdb/node-api');
  const instance = await DuckDBInstance.create(':memory:', { threads });
  const connection = await instance.connect();
  const result = await connection.runAndReadAll(readFileSync(0, 'utf8'));
  process.stdout.write(JSON.stringify(result.getRowsJson()));
}

main().catch((error) => {
  process.stderr.write(`${error.message}\n`);
  process.exit(1);
});
