import assert from "node:assert/strict";
import { test } from "node:test";

import { parse } from "../src/drivers/layers/statement.js";
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

/** A session of a layer that is connected to nothing. */
async function session(layer, variant = null) {
  const Driver = (await import(`../src/drivers/layers/${layer}.js`)).default;
  const driver = new Driver({ ...JOB, driver: layer, variant });
  driver.tables = TABLES;
  return driver.Session({}, false);
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
