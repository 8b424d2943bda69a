// What the runner in Node.js costs compared with the shortest honest program for the same work, both with better-sqlite3 on a
// database in memory, in turns, each in a separate process.
//
//   target/node/bin/node --expose-gc bench/node.mjs target/release [ROUNDS]
//
// It prints the ratio of their times by the clock and of CPU time, which depends less on what else the machine does: the
// geometric mean over the rounds with its 95 % interval. `make build build-node` first.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";

const [programs, second, kind, folder] = process.argv.slice(2);
const HERE = dirname(fileURLToPath(import.meta.url));
/** Operations of each kind of work: about half a second. */
const STATEMENTS = 40_000;
const ROWS = 400_000;
const STEPS = 200_000;
const COLUMNS = ["a1", "b2", "c3"].map((name) => ({ name, bytes: 8 }));
/** A step: when it is due, its class, and a key. */
const STEP = 24;
const CREATE = "CREATE TABLE t(id INTEGER PRIMARY KEY, n INTEGER, s TEXT)";
const FILL =
    "INSERT INTO t SELECT value, value, 'row ' || value FROM (WITH RECURSIVE g(value) AS (SELECT 1 UNION ALL SELECT " +
    "value + 1 FROM g WHERE value < 10000) SELECT value FROM g)";
const TABLE = "CREATE TABLE r(a1 TEXT, b2 TEXT, c3 TEXT)";

const HAND = {
    statements(db) {
        const data = readFileSync(join(folder, "statements"));
        return () => {
            const kept = [];
            for (const sql of data.toString().split("\0").slice(0, -1)) {
                const statement = db.prepare(sql);
                if (statement.reader) {
                    kept.push(statement.raw().all());
                } else {
                    statement.run();
                }
            }
            return kept;
        };
    },
    rows(db) {
        const data = readFileSync(join(folder, "rows"));
        db.exec(TABLE);
        return () => {
            const insert = db.prepare("INSERT INTO r VALUES (?, ?, ?)");
            db.prepare("BEGIN").run();
            for (let at = 0; at < data.length; at += 24) {
                insert.run(
                    data.latin1Slice(at, at + 8),
                    data.latin1Slice(at + 8, at + 16),
                    data.latin1Slice(at + 16, at + 24),
                );
            }
            db.prepare("COMMIT").run();
        };
    },
    mix(db) {
        const data = readFileSync(join(folder, "steps"));
        db.exec(CREATE);
        db.exec(FILL);
        const find = db.prepare("SELECT n, s FROM t WHERE id = ?").raw();
        return () => {
            const times = new Float64Array(2 * STEPS);
            let free = performance.now();
            for (let step = 0; step < STEPS; step++) {
                find.all(data.readUInt32LE(step * STEP + 16));
                const ended = performance.now();
                times[2 * step] = free;
                times[2 * step + 1] = ended;
                free = ended;
            }
            return times;
        };
    },
};

const TESTS = {
    statements: [{ model: "statements", file: "statements", count: STATEMENTS }],
    rows: [{ model: "insert-rows", table: "r", rows: { file: "rows", count: ROWS, columns: COLUMNS }, setup: [TABLE] }],
    mix: [
        {
            model: "mix",
            setup: [CREATE, FILL],
            classes: [
                {
                    name: "find",
                    transaction: null,
                    statements: [{ text: ["SELECT n, s FROM t WHERE id = ", ""], parameters: [0] }],
                },
            ],
            fields: [{ name: "id", kind: "integer", bytes: 8 }],
            clients: 1,
            steps: [{ file: "steps", count: STEPS }],
            patience_ns: 1e9,
        },
    ],
};

/** The times of the work in a process of the hand-written program: by the clock, and of the CPU. */
function byHand(kind, folder) {
    return JSON.parse(run([fileURLToPath(import.meta.url), programs, "hand", kind, folder], ""));
}

/** The same of the runner. */
function byRunner(kind, folder) {
    const file = (test) => JSON.parse(JSON.stringify(test).replace(/"file":"/g, `"file":"${folder}/`));
    const job = {
        protocol: 3,
        engine: "sqlite",
        driver: "better-sqlite3",
        build: "bundled",
        settings: [{ name: "database", value: ":memory:" }],
        directory: folder,
        tests: TESTS[kind].map((test) => ({ id: "1", ...file(test) })),
    };
    const events = run([join(HERE, "../runners/node/main.js"), programs], JSON.stringify(job))
        .trim()
        .split("\n");
    const { section } = events.map((line) => JSON.parse(line)).find(({ event }) => event === "sample");
    return [section.nanoseconds, section.client.user_ns + section.client.system_ns];
}

function run(args, input) {
    const options = { input, encoding: "utf8", maxBuffer: 1 << 30 };
    const { status, stdout, stderr } = spawnSync(process.execPath, ["--expose-gc", ...args], options);
    if (status !== 0) {
        throw new Error(stderr);
    }
    return stdout;
}

function hand() {
    const Database = createRequire(join(resolve(programs), "../node/package.json"))("better-sqlite3");
    const work = HAND[kind](new Database(":memory:"));
    globalThis.gc();
    const before = process.cpuUsage();
    const began = process.hrtime.bigint();
    work();
    const took = Number(process.hrtime.bigint() - began);
    const { user, system } = process.cpuUsage(before);
    process.stdout.write(JSON.stringify([took, 1000 * (user + system)]));
}

/** The inputs of all kinds of work. */
function write(folder) {
    const texts = [CREATE, FILL];
    for (let place = 2; place < STATEMENTS; place++) {
        const id = (place * 7919) % 10_000;
        texts.push(
            place % 2
                ? `SELECT n, s FROM t WHERE id BETWEEN ${id} AND ${id + 3}`
                : `INSERT INTO t(n, s) VALUES(${id}, 'the row of statement ${place}')`,
        );
    }
    writeFileSync(join(folder, "statements"), texts.map((text) => `${text}\0`).join(""));
    const row = (place) => [1, 2, 3].map((column) => String(place * column).padStart(8, "x")).join("");
    writeFileSync(join(folder, "rows"), Array.from({ length: ROWS }, (_, place) => row(place)).join(""));
    const steps = Buffer.alloc(STEPS * STEP);
    for (let step = 0; step < STEPS; step++) {
        steps.writeUInt32LE(1 + ((step * 7919) % 10_000), step * STEP + 16);
    }
    writeFileSync(join(folder, "steps"), steps);
}

/** The mean of numbers, and half of its 95 % interval, by Student's t: the approximation is right to 1 % from 6 on. */
function mean(values) {
    const free = values.length - 1;
    const centre = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / free;
    return [centre, (1.96 + 2.37 / free + 2.8 / free ** 2) * Math.sqrt(variance / values.length)];
}

function compare(rounds) {
    const folder = mkdtempSync(join(tmpdir(), "dyno-bench-node-"));
    try {
        write(folder);
        for (const kind of Object.keys(HAND)) {
            const ratios = [[], []];
            for (let round = 0; round <= rounds; round++) {
                const order = Math.random() < 0.5 ? [byHand, byRunner] : [byRunner, byHand];
                const times = new Map(order.map((way) => [way, way(kind, folder)]));
                // The first round warms up the machine.
                if (round > 0) {
                    ratios.forEach((one, place) =>
                        one.push(Math.log(times.get(byRunner)[place] / times.get(byHand)[place])),
                    );
                }
            }
            const [clock, cpu] = ratios.map((one) => {
                const [centre, half] = mean(one);
                const [ratio, low, high] = [centre, centre - half, centre + half].map((log) =>
                    Math.exp(log).toFixed(3),
                );
                return `${ratio} (${low}–${high})`;
            });
            console.log(`${kind.padEnd(10)} clock ${clock}, CPU ${cpu}, ${rounds} rounds`);
        }
    } finally {
        rmSync(folder, { recursive: true });
    }
}

if (second === "hand") {
    hand();
} else {
    compare(Number(second ?? 20));
}
