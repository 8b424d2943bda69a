// Statements and queries that the job lists, executed outside the clock by the driver that is measured. What they mean is
// for dyno to say.

import { Failure, Refused } from "../failure.js";
import { toJson } from "../values.js";

/** Stands for any code. */
const ANY = "*";

/** Executes statements of a maintenance, in order. */
export async function maintain(driver, connection, statements) {
  for (const statement of statements) {
    try {
      await execute(driver, connection, statement);
    } catch (error) {
      throw refused(driver, statement, error, `cannot ${statement.name}`);
    }
  }
}

/** Asks queries. What the engine refuses is reported as that; a lost connection is a failure. */
export async function readBack(driver, connection, queries) {
  const answers = [];
  for (const { name, query } of queries) {
    try {
      const rows = await rowsOf(driver, connection, query);
      answers.push({ name, rows: rows.map((row) => row.map((value) => JSON.parse(toJson(value)))) });
    } catch (error) {
      const code = driver.code(error);
      if (!code) {
        throw new Failure(`cannot read the settings back: ${driver.words(error)}`);
      }
      answers.push({ name, refused: { code, message: driver.words(error) } });
    }
  }
  return answers;
}

/** The answer of the first of some queries that the engine does not refuse; 0 if it refuses all. */
export async function firstNumber(driver, connection, queries) {
  for (const query of queries) {
    try {
      return Number((await rowsOf(driver, connection, query))[0][0]);
    } catch (error) {
      if (!driver.code(error)) {
        throw new Failure(`cannot read the size of the database: ${driver.words(error)}`);
      }
    }
  }
  return 0;
}

/** The settings that every connection sets for itself. */
export class OnConnect {
  #driver;
  #statements;

  constructor(driver, statements) {
    this.#driver = driver;
    this.#statements = statements;
  }

  /** Sets them for a connection. What the first connection was refused is not tried again: it would cost each of the
   *  others an exchange that no ordinary program makes. */
  async apply(connection) {
    const taken = [];
    for (const statement of this.#statements) {
      try {
        if (!(await execute(this.#driver, connection, statement))) {
          taken.push(statement);
        }
      } catch (error) {
        throw refused(this.#driver, statement, error, `the setting '${statement.name}' is refused`);
      }
    }
    this.#statements = taken;
  }
}

/** Executes a statement. Returns true if it was refused for a reason that the job ignores. */
async function execute(driver, connection, { sql, ignores, each }) {
  const statements = each ? (await rowsOf(driver, connection, sql)).map((row) => row[0]) : [sql];
  let ignored = false;
  for (const one of statements) {
    try {
      await driver.run(connection, one);
    } catch (error) {
      const code = driver.code(error);
      if (!code || !(ignores.includes(code) || ignores.includes(ANY))) {
        throw error;
      }
      ignored = true;
    }
  }
  return ignored;
}

async function rowsOf(driver, connection, sql) {
  const result = await driver.run(connection, sql);
  return driver.exact(driver.rows(result), driver.columns(result));
}

function refused(driver, statement, error, what) {
  if (error instanceof Failure) {
    return error;
  }
  const message = `${what}: ${driver.words(error)}`;
  const code = driver.code(error);
  return code ? new Refused(message, code, statement.name) : new Failure(message);
}
