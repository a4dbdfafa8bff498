/* Runs SQL in DuckDB, one statement an argument, and prints the rows of the
 * results, columns parted by "|". It is DuckDB and nothing besides: in Node.js,
 * for which its library is packaged, 55 MB and a fifth of a second of Node's
 * would count as DuckDB's. The declarations are those of DuckDB's C interface. */
#include <stdint.h>
#include <stdio.h>

typedef struct database *duckdb_database;
typedef struct connection *duckdb_connection;
typedef struct {
	uint64_t column_count, row_count, rows_changed;
	void *columns, *error_message, *internal_data;
} duckdb_result;

int duckdb_open(const char *path, duckdb_database *database);
int duckdb_connect(duckdb_database database, duckdb_connection *connection);
int duckdb_query(duckdb_connection connection, const char *sql, duckdb_result *result);
const char *duckdb_result_error(duckdb_result *result);
uint64_t duckdb_row_count(duckdb_result *result);
uint64_t duckdb_column_count(duckdb_result *result);
char *duckdb_value_varchar(duckdb_result *result, uint64_t column, uint64_t row);
void duckdb_free(void *value);
void duckdb_destroy_result(duckdb_result *result);
void duckdb_disconnect(duckdb_connection *connection);
void duckdb_close(duckdb_database *database);

static void print(duckdb_result *result)
{
	for (uint64_t row = 0; row < duckdb_row_count(result); row++)
		for (uint64_t column = 0; column < duckdb_column_count(result); column++) {
			char *value = duckdb_value_varchar(result, column, row);
			printf("%s%s", value ? value : "NULL", column + 1 < duckdb_column_count(result) ? "|" : "\n");
			duckdb_free(value);
		}
}

int main(int argc, char **argv)
{
	duckdb_database database;
	duckdb_connection connection;
	if (duckdb_open(NULL, &database) || duckdb_connect(database, &connection)) {
		fputs("DuckDB does not open\n", stderr);
		return 1;
	}
	int failed = 0;
	for (int i = 1; i < argc && !failed; i++) {
		duckdb_result result;
		failed = duckdb_query(connection, argv[i], &result);
		if (failed)
			fprintf(stderr, "%s\n", duckdb_result_error(&result));
		else
			print(&result);
		duckdb_destroy_result(&result);
	}
	duckdb_disconnect(&connection);
	duckdb_close(&database);
	return failed;
}
