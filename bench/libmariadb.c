/* A program as a careful C programmer would write it by hand to run files of statements on MariaDB or MySQL
** through libmariadb, or to put rows into a table. The cost of dyno's client is measured against this
** program's.
**
**     libmariadb SOCKET USER DATABASE -- FILE ...
**     libmariadb SOCKET USER DATABASE insert SETUP ROWS WIDTH ...
**     libmariadb SOCKET USER DATABASE load-data SETUP LINES
**
** DATABASE is made at the beginning and removed at the end. SETUP is a statement that makes the table t; ROWS
** is a file of rows whose columns have these widths, LINES one of lines with tabs between the cells. Output as
** that of reference.c.
*/
#include "common.h"

/* The little of mysql.h that is used, since the headers are a package of their own. */
typedef struct st_mysql MYSQL;
typedef struct st_mysql_res MYSQL_RES;
typedef char **MYSQL_ROW;
typedef struct {
  char *names[7];
  unsigned long lengths[2];
  unsigned int name_lengths[7];
  unsigned int flags, decimals, charsetnr;
  unsigned int type;
  void *extension;
} MYSQL_FIELD;
typedef struct st_mysql_stmt MYSQL_STMT;
typedef struct {
  unsigned long *length;
  char *is_null;
  void *buffer;
  char *error;
  void *internal[4];
  unsigned long more[3];
  unsigned int numbers[2];
  unsigned int buffer_type;
  char flags[4];
  void *extension;
} MYSQL_BIND;
enum { MYSQL_SET_CHARSET_NAME = 7, MYSQL_OPT_LOCAL_INFILE = 8, CLIENT_FOUND_ROWS = 2, STRING = 254 };
MYSQL *mysql_init(MYSQL *mysql);
int mysql_options(MYSQL *mysql, int option, const void *value);
MYSQL *mysql_real_connect(MYSQL *mysql, const char *host, const char *user, const char *password, const char *database,
                          unsigned int port, const char *socket, unsigned long flags);
void mysql_close(MYSQL *mysql);
const char *mysql_error(MYSQL *mysql);
int mysql_real_query(MYSQL *mysql, const char *query, unsigned long length);
MYSQL_RES *mysql_store_result(MYSQL *mysql);
void mysql_free_result(MYSQL_RES *result);
unsigned int mysql_field_count(MYSQL *mysql);
unsigned int mysql_num_fields(MYSQL_RES *result);
MYSQL_FIELD *mysql_fetch_fields(MYSQL_RES *result);
MYSQL_ROW mysql_fetch_row(MYSQL_RES *result);
unsigned long *mysql_fetch_lengths(MYSQL_RES *result);
unsigned int mysql_warning_count(MYSQL *mysql);
MYSQL_STMT *mysql_stmt_init(MYSQL *mysql);
int mysql_stmt_prepare(MYSQL_STMT *stmt, const char *query, unsigned long length);
char mysql_stmt_bind_param(MYSQL_STMT *stmt, MYSQL_BIND *binds);
int mysql_stmt_execute(MYSQL_STMT *stmt);
const char *mysql_stmt_error(MYSQL_STMT *stmt);
char mysql_stmt_close(MYSQL_STMT *stmt);

/* Types by their numbers in the protocol. */
enum { TINY = 1, SHORT = 2, LONG = 3, FLOAT = 4, DOUBLE = 5, LONGLONG = 8, INT24 = 9, NEWDECIMAL = 246 };

static void keep_value(const char *text, unsigned long length, unsigned int type) {
  if (!text) return;
  switch (type) {
    case TINY: case SHORT: case LONG: case LONGLONG: case INT24: {
      long long value = strtoll(text, NULL, 10);
      keep(&value, sizeof value);
      break;
    }
    case FLOAT: case DOUBLE: case NEWDECIMAL: {
      double value = strtod(text, NULL);
      keep(&value, sizeof value);
      break;
    }
    default: keep(text, length);
  }
}

static void execute(MYSQL *mysql, const char *text, unsigned long length) {
  if (mysql_real_query(mysql, text, length) != 0) die(text, mysql_error(mysql));
  MYSQL_RES *result = mysql_store_result(mysql);
  if (!result) {
    if (mysql_field_count(mysql) != 0) die(text, mysql_error(mysql));
    return;
  }
  unsigned int columns = mysql_num_fields(result);
  MYSQL_FIELD *fields = mysql_fetch_fields(result);
  for (MYSQL_ROW row; (row = mysql_fetch_row(result));) {
    unsigned long *lengths = mysql_fetch_lengths(result);
    for (unsigned int i = 0; i < columns; i++) keep_value(row[i], lengths[i], fields[i].type);
  }
  mysql_free_result(result);
}

/* A statement on the database. */
static void manage(MYSQL *mysql, const char *format, const char *database) {
  char sql[256];
  snprintf(sql, sizeof sql, format, database);
  execute(mysql, sql, strlen(sql));
}

static void run(MYSQL *mysql, const char *path) {
  Input input = load(path);
  Reading before = begin();
  for (size_t i = 0; i < input.count; i++) execute(mysql, input.list[i].text, input.list[i].length - 1);
  end(before);
  unload(&input);
}

static void command(MYSQL *mysql, const char *text) {
  execute(mysql, text, strlen(text));
  if (mysql_warning_count(mysql) != 0) die(text, "the server warns");
}

/* One prepared statement, a call for each row, one transaction. */
static void insert(MYSQL *mysql, Rows rows) {
  char sql[1024];
  MYSQL_BIND binds[64] = {0};
  Reading before = begin();
  char *row = malloc(rows.width), *cell = row;
  MYSQL_STMT *stmt = mysql_stmt_init(mysql);
  insert_text(sql, sizeof sql, rows.columns, '?');
  if (mysql_stmt_prepare(stmt, sql, strlen(sql)) != 0) die(sql, mysql_stmt_error(stmt));
  for (int i = 0; i < rows.columns; cell += rows.widths[i++])
    binds[i] = (MYSQL_BIND){.buffer_type = STRING, .buffer = cell, .length = &rows.widths[i]};
  if (mysql_stmt_bind_param(stmt, binds) != 0) die(sql, mysql_stmt_error(stmt));
  command(mysql, "BEGIN");
  for (size_t i = 0; i < rows.count; i++) {
    memcpy(row, rows.cells + i * rows.width, rows.width);
    if (mysql_stmt_execute(stmt) != 0 || mysql_warning_count(mysql) != 0) die(sql, mysql_stmt_error(stmt));
  }
  command(mysql, "COMMIT");
  mysql_stmt_close(stmt);
  free(row);
  end(before);
}

static void load_data(MYSQL *mysql, const char *path) {
  char sql[4096];
  snprintf(sql, sizeof sql, "LOAD DATA LOCAL INFILE '%s' INTO TABLE t CHARACTER SET utf8mb4", path);
  Reading before = begin();
  command(mysql, "BEGIN");
  command(mysql, sql);
  command(mysql, "COMMIT");
  end(before);
}

int main(int argc, char **argv) {
  if (argc < 6) die("usage", "libmariadb SOCKET USER DATABASE -- FILE ... | insert … | load-data …");
  reserve();
  MYSQL *mysql = mysql_init(NULL);
  unsigned int on = 1;
  mysql_options(mysql, MYSQL_OPT_LOCAL_INFILE, &on);
  mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  if (!mysql_real_connect(mysql, NULL, argv[2], "", NULL, 0, argv[1], CLIENT_FOUND_ROWS))
    die(argv[1], mysql_error(mysql));
  manage(mysql, "DROP DATABASE IF EXISTS %s", argv[3]);
  manage(mysql, "CREATE DATABASE %s CHARACTER SET utf8mb4", argv[3]);
  manage(mysql, "USE %s", argv[3]);
  if (strcmp(argv[4], "--") == 0) {
    for (int i = 5; i < argc; i++) run(mysql, argv[i]);
  } else {
    command(mysql, argv[5]);
    if (strcmp(argv[4], "insert") == 0) insert(mysql, load_rows(argv + 6, argc - 6));
    else load_data(mysql, argv[6]);
  }
  manage(mysql, "DROP DATABASE %s", argv[3]);
  mysql_close(mysql);
  return 0;
}
