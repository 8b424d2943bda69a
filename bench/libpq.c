/* A program as a careful C programmer would write it by hand to run files of statements on PostgreSQL through
** libpq, or to insert rows. The cost of dyno's client is measured against this program's.
**
**     libpq HOST PORT USER DATABASE -- FILE ...
**     libpq HOST PORT USER DATABASE insert SETUP ROWS WIDTH ...
**
** DATABASE is made at the beginning and removed at the end. SETUP is a statement that makes the table t; ROWS
** is a file of rows whose columns have these widths. Output as that of reference.c.
*/
#include "common.h"

/* The few prototypes of libpq-fe.h that are used, since the headers are a package of their own. */
typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
enum { CONNECTION_OK = 0, PGRES_COMMAND_OK = 1, PGRES_TUPLES_OK = 2 };
PGconn *PQsetdbLogin(const char *host, const char *port, const char *options, const char *tty, const char *name,
                     const char *user, const char *password);
int PQstatus(const PGconn *conn);
char *PQerrorMessage(const PGconn *conn);
void PQfinish(PGconn *conn);
PGresult *PQexec(PGconn *conn, const char *query);
int PQresultStatus(const PGresult *result);
PGresult *PQprepare(PGconn *conn, const char *name, const char *query, int count, const unsigned int *types);
PGresult *PQexecPrepared(PGconn *conn, const char *name, int count, const char *const *values, const int *lengths,
                         const int *formats, int format);
void PQclear(PGresult *result);
int PQntuples(const PGresult *result);
int PQnfields(const PGresult *result);
unsigned int PQftype(const PGresult *result, int column);
int PQgetisnull(const PGresult *result, int row, int column);
int PQgetlength(const PGresult *result, int row, int column);
char *PQgetvalue(const PGresult *result, int row, int column);

/* Types by their numbers in the catalogue. */
enum { INT8 = 20, INT2 = 21, INT4 = 23, FLOAT4 = 700, FLOAT8 = 701, NUMERIC = 1700 };

static void keep_value(PGresult *result, int row, int column) {
  if (PQgetisnull(result, row, column)) return;
  char *text = PQgetvalue(result, row, column);
  switch (PQftype(result, column)) {
    case INT2: case INT4: case INT8: {
      long long value = strtoll(text, NULL, 10);
      keep(&value, sizeof value);
      break;
    }
    case FLOAT4: case FLOAT8: case NUMERIC: {
      double value = strtod(text, NULL);
      keep(&value, sizeof value);
      break;
    }
    default: keep(text, PQgetlength(result, row, column));
  }
}

static void execute(PGconn *conn, const char *text) {
  PGresult *result = PQexec(conn, text);
  int status = PQresultStatus(result);
  if (status == PGRES_TUPLES_OK) {
    int rows = PQntuples(result), columns = PQnfields(result);
    for (int row = 0; row < rows; row++)
      for (int column = 0; column < columns; column++) keep_value(result, row, column);
  } else if (status != PGRES_COMMAND_OK) {
    die(text, PQerrorMessage(conn));
  }
  PQclear(result);
}

static PGconn *connect_to(char **argv, const char *database) {
  PGconn *conn = PQsetdbLogin(argv[1], argv[2], NULL, NULL, database, argv[3], NULL);
  if (PQstatus(conn) != CONNECTION_OK) die(database, PQerrorMessage(conn));
  execute(conn, "SET client_min_messages = warning");
  return conn;
}

/* A statement on the database, from another one. */
static void manage(char **argv, const char *format) {
  char sql[256];
  snprintf(sql, sizeof sql, format, argv[4]);
  PGconn *conn = connect_to(argv, "postgres");
  execute(conn, sql);
  PQfinish(conn);
}

static void run(PGconn *conn, const char *path) {
  Input input = load(path);
  Reading before = begin();
  for (size_t i = 0; i < input.count; i++) execute(conn, input.list[i].text);
  end(before);
  unload(&input);
}

static void done(PGconn *conn, PGresult *result) {
  if (PQresultStatus(result) != PGRES_COMMAND_OK) die("insert", PQerrorMessage(conn));
  PQclear(result);
}

/* One prepared statement, a call for each row, one transaction. */
static void insert(PGconn *conn, Rows rows) {
  char sql[1024];
  const char *values[64];
  int lengths[64], formats[64];
  unsigned int types[64];
  Reading before = begin();
  insert_text(sql, sizeof sql, rows.columns, '$');
  for (int i = 0; i < rows.columns; i++) types[i] = 25, formats[i] = 1, lengths[i] = (int)rows.widths[i];
  done(conn, PQprepare(conn, "insert", sql, rows.columns, types));
  execute(conn, "BEGIN");
  for (size_t i = 0; i < rows.count; i++) {
    const char *cell = rows.cells + i * rows.width;
    for (int j = 0; j < rows.columns; cell += rows.widths[j++]) values[j] = cell;
    done(conn, PQexecPrepared(conn, "insert", rows.columns, values, lengths, formats, 0));
  }
  execute(conn, "COMMIT");
  end(before);
}

int main(int argc, char **argv) {
  if (argc < 7) die("usage", "libpq HOST PORT USER DATABASE -- FILE ... | insert SETUP ROWS WIDTH ...");
  reserve();
  manage(argv, "DROP DATABASE IF EXISTS %s");
  manage(argv, "CREATE DATABASE %s TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'");
  PGconn *conn = connect_to(argv, argv[4]);
  if (strcmp(argv[5], "insert") == 0) {
    execute(conn, argv[6]);
    insert(conn, load_rows(argv + 7, argc - 7));
  } else {
    for (int i = 6; i < argc; i++) run(conn, argv[i]);
  }
  PQfinish(conn);
  manage(argv, "DROP DATABASE %s");
  return 0;
}
