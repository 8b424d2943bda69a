/* What a careful C programmer would write by hand to run files of statements on PostgreSQL through
** libpq. The cost of dyno's client is measured against this program's.
**
**     libpq HOST PORT USER DATABASE -- FILE ...
**
** DATABASE is made at the beginning and removed at the end. Output as that of reference.c.
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

int main(int argc, char **argv) {
  if (argc < 6) die("usage", "libpq HOST PORT USER DATABASE -- FILE ...");
  reserve();
  manage(argv, "DROP DATABASE IF EXISTS %s");
  manage(argv, "CREATE DATABASE %s TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'");
  PGconn *conn = connect_to(argv, argv[4]);
  for (int i = 6; i < argc; i++) {
    Input input = load(argv[i]);
    Reading before = begin();
    for (size_t j = 0; j < input.count; j++) execute(conn, input.list[j].text);
    end(before);
    unload(&input);
  }
  PQfinish(conn);
  manage(argv, "DROP DATABASE %s");
  return 0;
}
