import assert from "node:assert/strict";
import { test } from "node:test";

import { layer } from "../src/drivers/index.js";
import { parse } from "../src/drivers/layers/statement.js";
import { load } from "../src/native.js";
import "./support.js";

const TABLES = {
  posts: { id: "integer", title: "text", user_id: "integer", comments: "integer" },
  users: { id: "integer", name: "text" },
};
const JOB = {
  engine: "postgres",
  build: "system",
  settings: [],
  onConnect: [],
  server: { host: "h", user: "u", options: {} },
};

/** A session of a layer above a driver, on what is no connection to a server unless one is given. */
async function session(name, below = "pg", { job = {}, connection = { connection: {} } } = {}) {
  const Driver = await layer(name, below);
  const driver = new Driver({ ...JOB, driver: name, variant: null, ...job });
  driver.tables = TABLES;
  return driver.Session(connection, false);
}

/** A database in memory with the tables above. */
function memory() {
  const connection = new (load("better-sqlite3"))(":memory:");
  connection.exec("CREATE TABLE posts(id INTEGER PRIMARY KEY, title, user_id, comments)");
  connection.exec("CREATE TABLE users(id INTEGER PRIMARY KEY, name)");
  connection.exec("INSERT INTO users VALUES(1, 'a'), (2, 'b')");
  connection.exec("INSERT INTO posts VALUES(1, 'x', 1, 0), (2, 'y', 2, 0), (3, 'z', 2, 0)");
  return connection;
}

/** By statement, the chains of Kysely, Knex and Drizzle. */
const CHAINS = [
  [
    ["SELECT posts.id, users.name FROM posts JOIN users ON users.id = posts.user_id WHERE posts.id > ", " ORDER BY posts.id DESC LIMIT 20;"],
    'session.db.selectFrom("posts").select(["posts.id", "users.name"]).innerJoin("users", "users.id", "posts.user_id").where("posts.id", ">", v0).orderBy("posts.id", "desc").limit(20).execute()',
    'session.db("posts").select("posts.id", "users.name").innerJoin("users", "users.id", "posts.user_id").where("posts.id", ">", v0).orderBy("posts.id", "desc").limit(20)',
    "session.db.select({ id: t.posts.id, name: t.users.name }).from(t.posts).innerJoin(t.users, eq(t.users.id, t.posts.user_id)).where(gt(t.posts.id, v0)).orderBy(desc(t.posts.id)).limit(20)",
  ],
  [
    ["UPDATE posts SET comments = comments + ", " WHERE id = ", " AND user_id = 7"],
    'session.db.updateTable("posts").set({ comments: sql`comments + ${v0}` }).where("id", "=", v1).where("user_id", "=", 7).execute()',
    'session.db("posts").update({ comments: session.db.raw("comments + ?", [v0]) }).where("id", "=", v1).where("user_id", "=", 7)',
    "session.db.update(t.posts).set({ comments: sql`comments + ${v0}` }).where(and(eq(t.posts.id, v1), eq(t.posts.user_id, 7)))",
  ],
  [
    ["INSERT INTO users VALUES(", ", ", ")"],
    'session.db.insertInto("users").values({ id: v0, name: v1 }).execute()',
    'session.db("users").insert({ id: v0, name: v1 })',
    "session.db.insert(t.users).values({ id: v0, name: v1 })",
  ],
  [
    ["DELETE FROM users WHERE name = 'a`$?' OR id = ", ""],
    'session.db.deleteFrom("users").where(sql`name = \'a\\`\\$?\' OR id = ${v0}`).execute()',
    'session.db("users").del().where(session.db.raw("name = \'a`$\\\\?\' OR id = ?", [v0]))',
    "session.db.delete(t.users).where(sql`name = 'a\\`\\$?' OR id = ${v0}`)",
  ],
  [
    ["SELECT count(*), title FROM posts WHERE id = ", " FOR UPDATE"],
    'session.db.selectFrom("posts").select([sql`count(*)`.as("column_1"), "title"]).where("id", "=", v0).forUpdate().execute()',
    'session.db("posts").select(session.db.raw("count(*) as \\"column_1\\"", []), "title").where("id", "=", v0).forUpdate()',
    'session.db.select({ column_1: sql`count(*)`, title: t.posts.title }).from(t.posts).where(eq(t.posts.id, v0)).for("update")',
  ],
  [
    ["SELECT a FROM b, c WHERE x = ", ""],
    "sql`SELECT a FROM b, c WHERE x = ${v0}`.execute(session.db)",
    'session.db.raw("SELECT a FROM b, c WHERE x = ?", [v0])',
    "session.db.execute(sql`SELECT a FROM b, c WHERE x = ${v0}`)",
  ],
];

test("a statement is the chain that a program would have", async () => {
  for (const [place, layer] of ["kysely", "knex", "drizzle"].entries()) {
    const client = await session(layer);
    for (const [pieces, ...chains] of CHAINS) {
      const source = client.source(pieces);
      assert.equal(source, chains[place]);
      assert.equal(typeof client.compile(source, pieces.length - 1), "function");
    }
  }
});

test("the chains of Kysely and Knex do not depend on the driver below, and those of Drizzle end with a call in SQLite", async () => {
  const sqlite = { job: { build: "bundled", directory: "." }, connection: memory() };
  for (const [name, place] of [["kysely", 0], ["knex", 1], ["drizzle", 2]]) {
    const mysql = await session(name, "mysql2");
    const better = await session(name, "better", sqlite);
    for (const [pieces, ...chains] of CHAINS.slice(0, 3)) {
      assert.equal(mysql.source(pieces), chains[place]);
      const end = name === "drizzle" ? (pieces[0].startsWith("SELECT") ? ".all()" : ".run()") : "";
      assert.equal(better.source(pieces), chains[place] + end);
    }
  }
});

test("above SQLite a transaction of each layer changes and returns rows, and what is rolled back is gone", async () => {
  for (const name of ["kysely", "knex", "drizzle"]) {
    const variants = name === "drizzle" ? [null, "prepared"] : [null];
    for (const variant of variants) {
      const job = { build: "bundled", directory: ".", variant };
      const client = await session(name, "better", { job, connection: memory() });
      const [titles, rename, count] = [
        ["SELECT posts.title, users.name FROM posts JOIN users ON users.id = posts.user_id WHERE users.id = ", " ORDER BY posts.id"],
        ["UPDATE posts SET title = ", " WHERE user_id = ", ""],
        ["SELECT count(*) FROM posts, users WHERE posts.user_id = users.id AND title = ", ""],
      ].map((pieces) => client.prepare(pieces));
      const rows = async (result) => client.rows(await result);
      await client.beginWrite();
      await rename("new", 2);
      assert.deepEqual(await rows(titles(2)), [["new", "b"], ["new", "b"]]);
      assert.deepEqual(await rows(count("new")), [[2]]);
      await client.rollback();
      assert.deepEqual(await rows(titles(2)), [["y", "b"], ["z", "b"]]);
      await client.beginWrite();
      await rename("new", 1);
      await client.commit();
      assert.deepEqual(await rows(count("new")), [[1]]);
      if (name === "knex") {
        // Its pool has a timer.
        await client.all.destroy();
      }
    }
  }
});

test("rows are those of a builder, or the first of the pair that MySQL2 returns", async () => {
  const client = await session("kysely", "mysql2");
  assert.deepEqual(client.rows([{ a: 1, b: 2 }]), [[1, 2]]);
  assert.deepEqual(client.rows([[{ a: 1 }, { a: 2 }], []]), [[1], [2]]);
  assert.deepEqual(client.rows([[], []]), []);
});

test("what no chain says as it stands has no tree", () => {
  const none = [
    "SELECT x FROM t GROUP BY x",
    "SELECT x FROM t LEFT JOIN u ON t.a = u.a",
    "SELECT x FROM t y",
    "SELECT count(*) n FROM t",
    "SELECT count(*) AS n FROM t",
    "SELECT DISTINCT x FROM t",
    "SELECT * FROM t",
    "SELECT t.* FROM t",
    "SELECT x FROM T",
    "SELECT x FROM t FOR SHARE",
    "INSERT INTO t(a) VALUES(1) ON CONFLICT(a) DO NOTHING",
    "INSERT INTO t(a, b) VALUES(1)",
    "INSERT INTO t(a) VALUES(1), (2)",
    "UPDATE t SET A = 1",
    "VACUUM",
  ];
  for (const text of none) {
    assert.equal(parse([text], () => []), null, text);
  }
});

test("words and commas within texts and parentheses are not those of the statement", () => {
  const { set, where } = parse(["UPDATE t SET a = coalesce(b, ' FROM (x, '), c = 'it''s' WHERE d = (SELECT 1 WHERE e = ", ")"]);
  assert.deepEqual(set, [
    ["a", { fragment: "coalesce(b, ' FROM (x, ')" }],
    ["c", { fragment: "'it''s'" }],
  ]);
  assert.deepEqual(where, [{ left: { name: "d" }, comparison: "=", right: { fragment: "(SELECT 1 WHERE e = $0$)" } }]);
});

test("two columns of one name are found by two names", () => {
  const { items } = parse(["SELECT t.id, u.id FROM t JOIN u ON u.id = t.u"]);
  assert.deepEqual(items.map(({ as }) => as), ["id", "column_2"]);
});

test("Drizzle builds no query of columns that it does not know, because it would leave them out", async () => {
  const client = await session("drizzle");
  assert.equal(client.tree(["INSERT INTO users(id, nothing) VALUES(1, 2)"]), null);
  assert.equal(client.tree(["SELECT nothing FROM users"]), null);
  assert.equal(client.tree(["SELECT id FROM nowhere"]), null);
});
