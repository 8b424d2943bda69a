// Compares the cost of the runner in Node.js with that of the shortest honest program for the same work through Kysely, Knex and Drizzle:
// look-ups by one client of a mix, on a PostgreSQL server that is there, in turns, each in a separate process.
//
//   target/node/bin/node --expose-gc bench/layers.mjs target/release HOST [ROUNDS]
//
// HOST is a server's name or the folder of its socket; its user and database are PGUSER and PGDATABASE, and a table t is
// made there and dropped. It prints the ratio of CPU times: the geometric mean over the rounds with its 95 % interval.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";

const [programs, host, second, layer, file] = process.argv.slice(2);
const HERE = dirname(fileURLToPath(import.meta.url));
const use = createRequire(join(resolve(programs), "../node/package.json"));
const { Client } = use("pg");
const { PGUSER: user = "postgres", PGDATABASE: database = "postgres" } = process.env;
const STEPS = 20_000;
const STEP = 24;

/** By layer, a function that looks a row up, as a program has it. */
const HAND = {
    kysely(client) {
        const { Kysely, PostgresDialect } = use("kysely");
        client.release = () => {};
        const pool = { connect: async () => client, end: async () => {} };
        const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
        return (id) => db.selectFrom("t").select(["n", "s"]).where("id", "=", id).execute();
    },
    knex(client) {
        client.release = () => {};
        const connectionPool = { connect: async () => client };
        const db = use("knex")({ client: "pg", version: "10", connectionPool });
        return (id) => db("t").select("n", "s").where("id", "=", id);
    },
    drizzle(client) {
        const { eq } = use("drizzle-orm");
        const { pgTable, integer, text } = use("drizzle-orm/pg-core");
        const t = pgTable("t", { id: integer(), n: integer(), s: text() });
        const db = use("drizzle-orm/node-postgres").drizzle({ client });
        return (id) => db.select({ n: t.n, s: t.s }).from(t).where(eq(t.id, id));
    },
};

async function hand() {
    const client = new Client({ host, user, database });
    await client.connect();
    const find = HAND[layer](client);
    const data = readFileSync(file);
    const times = new Float64Array(2 * STEPS);
    globalThis.gc();
    const before = process.cpuUsage();
    let free = performance.now();
    for (let step = 0; step < STEPS; step++) {
        await find(data.readUInt32LE(step * STEP + 16));
        const ended = performance.now();
        times[2 * step] = free;
        times[2 * step + 1] = ended;
        free = ended;
    }
    const { user: own, system } = process.cpuUsage(before);
    process.stdout.write(JSON.stringify(1000 * (own + system)));
    await client.end();
}

const byHand = (layer, file) => JSON.parse(run([fileURLToPath(import.meta.url), programs, host, "hand", layer, file], ""));

function byRunner(layer, file) {
    const statements = [{ text: ["SELECT n, s FROM t WHERE id = ", ""], parameters: [0] }];
    const job = {
        protocol: 3,
        engine: "postgres",
        speaks: "postgres",
        driver: layer,
        build: "system",
        settings: [],
        directory: dirname(file),
        server: { host, user, database },
        tests: [
            {
                id: "1",
                model: "mix",
                classes: [{ name: "find", transaction: null, statements }],
                fields: [{ name: "id", kind: "integer", bytes: 8 }],
                clients: 1,
                steps: [{ file, count: STEPS }],
                patience_ns: 1e9,
            },
        ],
    };
    const events = run([join(HERE, "../runners/node/main.js"), programs], JSON.stringify(job));
    const sample = events.trim().split("\n").map(JSON.parse).find(({ event }) => event === "sample");
    return sample.section.client.user_ns + sample.section.client.system_ns;
}

function run(args, input) {
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--expose-gc", ...args], { input, encoding: "utf8" });
    if (status !== 0) {
        throw new Error(stderr || stdout);
    }
    return stdout;
}

async function compare(rounds) {
    const folder = mkdtempSync(join(tmpdir(), "dyno-bench-layers-"));
    const client = new Client({ host, user, database });
    await client.connect();
    try {
        await client.query("CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER, s TEXT)");
        await client.query("INSERT INTO t SELECT g, g, 'row ' || g FROM generate_series(1, 10000) g");
        await client.query("ANALYZE t");
        const steps = Buffer.alloc(STEPS * STEP);
        for (let step = 0; step < STEPS; step++) {
            steps.writeUInt32LE(1 + ((step * 7919) % 10_000), step * STEP + 16);
        }
        const file = join(folder, "steps");
        writeFileSync(file, steps);
        for (const layer of Object.keys(HAND)) {
            const logs = [];
            for (let round = 0; round <= rounds; round++) {
                const order = Math.random() < 0.5 ? [byHand, byRunner] : [byRunner, byHand];
                const times = new Map(order.map((way) => [way, way(layer, file)]));
                // The first round warms up the machine.
                if (round > 0) {
                    logs.push(Math.log(times.get(byRunner) / times.get(byHand)));
                }
            }
            console.log(`${layer.padEnd(8)} CPU ${interval(logs)}, ${rounds} rounds`);
        }
        await client.query("DROP TABLE t");
    } finally {
        await client.end();
        rmSync(folder, { recursive: true });
    }
}

/** The geometric mean, and its 95 % interval by Student's t: the approximation is right to 1 % from 6 on. */
function interval(logs) {
    const free = logs.length - 1;
    const centre = logs.reduce((sum, value) => sum + value, 0) / logs.length;
    const variance = logs.reduce((sum, value) => sum + (value - centre) ** 2, 0) / free;
    const half = (1.96 + 2.37 / free + 2.8 / free ** 2) * Math.sqrt(variance / logs.length);
    const [ratio, low, high] = [centre, centre - half, centre + half].map((log) => Math.exp(log).toFixed(3));
    return `${ratio} (${low}–${high})`;
}

await (second === "hand" ? hand() : compare(Number(second ?? 10)));
