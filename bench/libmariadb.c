/* What a careful C programmer would write by hand to run files of statements on MariaDB or MySQL
** through libmariadb. The cost of dyno's client is measured against this program's.
**
**     libmariadb SOCKET USER DATABASE -- FILE ...
**
** DATABASE is made at the beginning and removed at the end. Output as that of reference.c.
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
enum { MYSQL_SET_CHARSET_NAME = 7, CLIENT_FOUND_ROWS = 2 };
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

int main(int argc, char **argv) {
  if (argc < 5) die("usage", "libmariadb SOCKET USER DATABASE -- FILE ...");
  reserve();
  MYSQL *mysql = mysql_init(NULL);
  mysql_options(mysql, MYSQL_SET_CHARSET_NAME, "utf8mb4");
  if (!mysql_real_connect(mysql, NULL, argv[2], "", NULL, 0, argv[1], CLIENT_FOUND_ROWS))
    die(argv[1], mysql_error(mysql));
  manage(mysql, "DROP DATABASE IF EXISTS %s", argv[3]);
  manage(mysql, "CREATE DATABASE %s CHARACTER SET utf8mb4", argv[3]);
  manage(mysql, "USE %s", argv[3]);
  for (int i = 5; i < argc; i++) {
    Input input = load(argv[i]);
    Reading before = begin();
    for (size_t j = 0; j < input.count; j++) execute(mysql, input.list[j].text, input.list[j].length - 1);
    end(before);
    unload(&input);
  }
  manage(mysql, "DROP DATABASE %s", argv[3]);
  mysql_close(mysql);
  return 0;
}
