/* A program as a careful C programmer would write it by hand to let several threads work on one SQLite: the statements
** of dyno's suite `bank`, prepared once for each thread, with a separate connection. threads.py compares dyno with it.
**
**     threads DATABASE read|transfer THREADS SECONDS BRANCHES ACCOUNTS [NAME=VALUE ...]
**
** Each NAME=VALUE becomes a PRAGMA of every connection. Prints how many operations were done and the nanoseconds of the
** processor that they took.
*/
#include "sqlite.h"
#include <pthread.h>

/* The time that a connection waits for a lock, in milliseconds. */
#define BUSY_TIMEOUT_MS 10000

static const char *const READ[] = {"SELECT abalance FROM accounts WHERE aid = ?1", NULL};
static const char *const TRANSFER[] = {
    "UPDATE accounts SET abalance = abalance + ?1 WHERE aid = ?2",
    "SELECT abalance FROM accounts WHERE aid = ?1",
    "UPDATE tellers SET tbalance = tbalance + ?1 WHERE tid = ?2",
    "UPDATE branches SET bbalance = bbalance + ?1 WHERE bid = ?2",
    "INSERT INTO history(tid, bid, aid, delta, mtime) VALUES(?1, ?2, ?3, ?4, CURRENT_TIMESTAMP)",
    NULL};

static const char *path;
static char **settings;
static int branches, accounts, transfers;
static int64_t ends;
static pthread_barrier_t ready;

/* A thread: what it has done, and where the values go that it fetches. */
typedef struct {
  pthread_t thread;
  sqlite3 *db;
  uint64_t random;
  int64_t done;
  volatile sqlite3_int64 value;
} Client;

static sqlite3 *connect_to(void) {
  sqlite3 *db;
  if (sqlite3_open(path, &db) != SQLITE_OK) die(path, sqlite3_errmsg(db));
  sqlite3_busy_timeout(db, BUSY_TIMEOUT_MS);
  for (char **setting = settings; *setting; setting++) set(db, *setting);
  return db;
}

static void make(sqlite3 *db) {
  char sql[256];
  execute(db, "CREATE TABLE branches(bid INTEGER NOT NULL PRIMARY KEY, bbalance INTEGER NOT NULL, filler CHAR(88))", -1);
  execute(db, "CREATE TABLE tellers(tid INTEGER NOT NULL PRIMARY KEY, bid INTEGER NOT NULL, tbalance INTEGER NOT NULL, filler CHAR(84))", -1);
  execute(db, "CREATE TABLE accounts(aid INTEGER NOT NULL PRIMARY KEY, bid INTEGER NOT NULL, abalance INTEGER NOT NULL, filler CHAR(84))", -1);
  execute(db, "CREATE TABLE history(tid INTEGER NOT NULL, bid INTEGER NOT NULL, aid INTEGER NOT NULL, delta INTEGER NOT NULL, mtime TIMESTAMP NOT NULL, filler CHAR(22))", -1);
  execute(db, "BEGIN", -1);
  for (int bid = 1; bid <= branches; bid++) {
    snprintf(sql, sizeof sql, "INSERT INTO branches VALUES(%d, 0, '')", bid);
    execute(db, sql, -1);
  }
  for (int tid = 1; tid <= 10 * branches; tid++) {
    snprintf(sql, sizeof sql, "INSERT INTO tellers VALUES(%d, %d, 0, '')", tid, (tid + 9) / 10);
    execute(db, sql, -1);
  }
  for (int aid = 1; aid <= branches * accounts; aid++) {
    snprintf(sql, sizeof sql, "INSERT INTO accounts VALUES(%d, %d, 0, '')", aid, (aid - 1) / accounts + 1);
    execute(db, sql, -1);
  }
  execute(db, "COMMIT", -1);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql) {
  sqlite3_stmt *stmt;
  if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK) die(sql, sqlite3_errmsg(db));
  return stmt;
}

/* Executes a statement with whole numbers; 0 where another connection holds the lock. */
static int run(Client *client, sqlite3 *db, sqlite3_stmt *stmt, const int *numbers, int count) {
  for (int i = 0; i < count; i++) sqlite3_bind_int64(stmt, i + 1, numbers[i]);
  int code = sqlite3_step(stmt);
  for (; code == SQLITE_ROW; code = sqlite3_step(stmt))
    if (sqlite3_column_type(stmt, 0) == SQLITE_INTEGER) client->value = sqlite3_column_int64(stmt, 0);
  sqlite3_reset(stmt);
  if (code == SQLITE_BUSY || code == SQLITE_LOCKED) return 0;
  if (code != SQLITE_DONE) die(sqlite3_sql(stmt), sqlite3_errmsg(db));
  return 1;
}

/* A number from 1 on (xorshift). */
static int draw(Client *client, int most) {
  client->random ^= client->random << 13;
  client->random ^= client->random >> 7;
  client->random ^= client->random << 17;
  return (int)(client->random % (uint64_t)most) + 1;
}

static void *work(void *argument) {
  Client *client = argument;
  sqlite3 *db = client->db;
  sqlite3_stmt *stmts[5], *start = prepare(db, "BEGIN IMMEDIATE"), *commit = prepare(db, "COMMIT");
  sqlite3_stmt *rollback = prepare(db, "ROLLBACK");
  const char *const *texts = transfers ? TRANSFER : READ;
  for (int i = 0; texts[i]; i++) stmts[i] = prepare(db, texts[i]);
  pthread_barrier_wait(&ready);
  pthread_barrier_wait(&ready);
  for (int64_t moment = now(); moment < ends;) {
    int aid = draw(client, branches * accounts);
    if (!transfers) {
      while (!run(client, db, stmts[0], &aid, 1)) {}
    } else {
      int bid = draw(client, branches), tid = draw(client, 10 * branches), delta = draw(client, 10001) - 5001;
      for (;;) {
        if (run(client, db, start, NULL, 0) && run(client, db, stmts[0], (int[]){delta, aid}, 2) &&
            run(client, db, stmts[1], &aid, 1) && run(client, db, stmts[2], (int[]){delta, tid}, 2) &&
            run(client, db, stmts[3], (int[]){delta, bid}, 2) &&
            run(client, db, stmts[4], (int[]){tid, bid, aid, delta}, 4) && run(client, db, commit, NULL, 0))
          break;
        if (!sqlite3_get_autocommit(db)) run(client, db, rollback, NULL, 0);
      }
    }
    moment = now();
    // Operations that end later do not count.
    client->done += moment < ends;
  }
  pthread_barrier_wait(&ready);
  return NULL;
}

int main(int argc, char **argv) {
  if (argc < 7) die("arguments", "DATABASE read|transfer THREADS SECONDS BRANCHES ACCOUNTS [NAME=VALUE ...]");
  path = argv[1];
  transfers = strcmp(argv[2], "transfer") == 0;
  int threads = atoi(argv[3]);
  double seconds = atof(argv[4]);
  branches = atoi(argv[5]);
  accounts = atoi(argv[6]);
  settings = argv + 7;
  if (threads < 1 || branches < 1 || accounts < 1 || seconds <= 0) die("arguments", "a number is not above 0");
  reserve();
  if (sqlite3_initialize() != SQLITE_OK) die("SQLite", "cannot be initialized");
  sqlite3 *db = connect_to();
  make(db);
  Client *clients = calloc(threads, sizeof *clients);
  if (!clients || pthread_barrier_init(&ready, NULL, threads + 1) != 0) die("threads", "no memory");
  for (int i = 0; i < threads; i++) {
    clients[i].db = connect_to();
    clients[i].random = UINT64_C(0x9e3779b97f4a7c15) * (i + 1);
    if (pthread_create(&clients[i].thread, NULL, work, &clients[i]) != 0) die("threads", "cannot be started");
  }
  pthread_barrier_wait(&ready);
  int64_t before = worked();
  ends = now() + (int64_t)(seconds * 1e9);
  pthread_barrier_wait(&ready);
  pthread_barrier_wait(&ready);
  int64_t spent = worked() - before, done = 0;
  for (int i = 0; i < threads; i++) done += clients[i].done;
  printf("%lld %lld\n", (long long)done, (long long)spent);
  return 0;
}
