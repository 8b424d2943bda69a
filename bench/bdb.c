/* A program as a careful C programmer would write it by hand to put keys and values into Berkeley DB and to look them
** up, and to know how long each takes. dyno's own time is measured against this program's.
**
**     bdb DIRECTORY [NAME=VALUE ...] -- TEST ...
**
** The settings are those of engines/bdb.toml that its profiles and its cache need; cells.h has the tests. For each
** test one line is printed, as by reference.c.
*/
#include "cells.h"
#include <db.h>

static DB_ENV *env;
static DB *stores[16];
static const char *names[16];
static const char *directory;
static size_t cache;
static int temporary;

static void check(int code, const char *what) {
  if (code != 0) die(what, db_strerror(code));
}

static void set(const char *setting, int *transactional) {
  if (strcmp(setting, "environment=none") == 0) *transactional = 0;
  else if (strcmp(setting, "environment=transactional") == 0) *transactional = 1;
  else if (strcmp(setting, "database=temporary") == 0) temporary = 1;
  else if (strncmp(setting, "cache_size=", 11) == 0) cache = strtoul(setting + 11, NULL, 10);
  else if (strcmp(setting, "database=file") != 0 && strcmp(setting, "txn_nosync=off") != 0 &&
           strcmp(setting, "txn_write_nosync=off") != 0)
    die(setting, "no such setting");
}

static void open_environment(void) {
  check(db_env_create(&env, 0), "env_create");
  if (cache) check(env->set_cachesize(env, cache >> 30, cache & ((1u << 30) - 1), 1), "cache_size");
  check(env->set_lk_max_locks(env, 100000), "locks");
  check(env->set_lk_max_objects(env, 100000), "objects");
  check(env->open(env, directory, DB_CREATE | DB_INIT_LOCK | DB_INIT_LOG | DB_INIT_MPOOL | DB_INIT_TXN, 0600),
        directory);
}

static DB *open_store(const char *name) {
  char path[4096];
  DB *db;
  int i = 0;
  for (; names[i]; i++)
    if (strcmp(names[i], name) == 0) return stores[i];
  check(db_create(&db, env, 0), "create");
  if (!env) {
    check(db->get_env(db)->set_tmp_dir(db->get_env(db), directory), "tmp_dir");
    if (cache) check(db->set_cachesize(db, cache >> 30, cache & ((1u << 30) - 1), 1), "cache_size");
  }
  snprintf(path, sizeof path, "%s%s%s.db", env ? "" : directory, env ? "" : "/", name);
  check(db->open(db, NULL, temporary ? NULL : path, NULL, DB_BTREE, DB_CREATE | (env ? DB_AUTO_COMMIT : 0), 0600),
        path);
  names[i] = name;
  return stores[i] = db;
}

static void put(DB *db, const Test *test, size_t from, size_t to, size_t per_commit) {
  while (from < to) {
    size_t last = per_commit && to - from > per_commit ? from + per_commit : to;
    DB_TXN *txn = NULL;
    if (env) check(env->txn_begin(env, NULL, &txn, 0), "begin");
    for (; from < last; from++) {
      DBT key = {.data = (void *)cell(test->keys, from), .size = test->keys.width};
      DBT value = {.data = (void *)cell(test->values, from), .size = test->values.width};
      check(db->put(db, txn, &key, &value, 0), "put");
    }
    if (env) check(txn->commit(txn, 0), "commit");
  }
}

static size_t get(DB *db, Cells keys) {
  size_t bytes = 0;
  for (size_t i = 0; i < keys.count; i++) {
    DBT key = {.data = (void *)cell(keys, i), .size = keys.width};
    DBT value = {0};
    int code = db->get(db, NULL, &key, &value, 0);
    if (code == 0) bytes += value.size;
    else if (code != DB_NOTFOUND) check(code, "get");
  }
  return bytes;
}

/* Writes all that was put off, as dyno's runner does where a test settles. */
static void settle(void) {
  if (env) check(env->txn_checkpoint(env, 0, 0, DB_FORCE), "checkpoint");
  else
    for (int i = 0; names[i]; i++) check(stores[i]->sync(stores[i], 0), "sync");
}

/* Reads everything, as a scan and as dyno does after it has put: what is in the cache when the next test begins is the same.
** Many pairs come with a call: https://docs.oracle.com/cd/E17276_01/html/programmer_reference/am_misc_bulk.html */
static size_t scan(DB *db) {
  static uint32_t memory[(64 << 10) / sizeof(uint32_t)];
  DBC *cursor;
  DBT key = {0}, pairs = {.data = memory, .ulen = sizeof memory, .flags = DB_DBT_USERMEM};
  size_t bytes = 0;
  int code;
  check(db->cursor(db, NULL, &cursor, 0), "cursor");
  while ((code = cursor->get(cursor, &key, &pairs, DB_NEXT | DB_MULTIPLE_KEY)) == 0) {
    void *next, *k, *v;
    size_t key_length, value_length;
    DB_MULTIPLE_INIT(next, &pairs);
    for (;;) {
      DB_MULTIPLE_KEY_NEXT(next, &pairs, k, key_length, v, value_length);
      if (!next) break;
      bytes += key_length + value_length;
    }
  }
  if (code != DB_NOTFOUND) check(code, "scan");
  check(cursor->close(cursor), "close");
  return bytes;
}

static void run(const Test *test) {
  if (strcmp(test->what, "settle") == 0) {
    Reading before = begin();
    settle();
    end(before);
    return;
  }
  DB *db = open_store(test->store);
  if (strcmp(test->what, "scan") == 0) {
    Reading before = begin();
    size_t bytes = scan(db);
    end(before);
    if (bytes == 0) die(test->store, "nothing found");
    return;
  }
  if (strcmp(test->what, "get") == 0) {
    Reading before = begin();
    size_t bytes = get(db, test->keys);
    end(before);
    if (bytes == 0) die(test->store, "nothing found");
    return;
  }
  Reading before = begin();
  put(db, test, 0, test->timed, test->per_commit);
  end(before);
  put(db, test, test->timed, test->keys.count, 16384);
  if (scan(db) == 0) die(test->store, "nothing found");
}

int main(int argc, char **argv) {
  int i = 2, transactional = 1;
  char **next;
  if (argc < 3) die("usage", "bdb DIRECTORY [NAME=VALUE ...] -- TEST ...");
  directory = argv[1];
  for (; i < argc && strcmp(argv[i], "--") != 0; i++) set(argv[i], &transactional);
  if (transactional) open_environment();
  for (next = argv + i + 1; next < argv + argc;) {
    Test test;
    next = next_test(next, argv + argc, &test);
    run(&test);
    unmap(test.keys);
    unmap(test.values);
  }
  for (i = 0; names[i]; i++) check(stores[i]->close(stores[i], 0), "close");
  if (env) check(env->close(env, 0), "close");
  return 0;
}
