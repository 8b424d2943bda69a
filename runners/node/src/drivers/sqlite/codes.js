// The codes of SQLite's errors (https://www.sqlite.org/rescode.html), for libraries that give their names.

const PRIMARY =
  "OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL " +
  "EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB";
const EXTENDED = {
  BUSY: "RECOVERY SNAPSHOT TIMEOUT",
  LOCKED: "SHAREDCACHE VTAB",
  CONSTRAINT: "CHECK COMMITHOOK FOREIGNKEY FUNCTION NOTNULL PRIMARYKEY TRIGGER UNIQUE VTAB ROWID PINNED DATATYPE",
};

export const ERROR = 1;
export const BUSY = 5;
export const LOCKED = 6;

const CODES = new Map(PRIMARY.split(" ").map((name, code) => [`SQLITE_${name}`, code]));
for (const [name, more] of Object.entries(EXTENDED)) {
  const code = CODES.get(`SQLITE_${name}`);
  more.split(" ").forEach((each, place) => CODES.set(`SQLITE_${name}_${each}`, code | ((place + 1) << 8)));
}

/** The code of a name such as `SQLITE_CONSTRAINT_UNIQUE`: of one that is not in the list the primary code, or 0. */
export function codeOf(name) {
  const primary = /^SQLITE_[A-Z]+/.exec(name)?.[0];
  return CODES.get(name) ?? CODES.get(primary) ?? 0;
}

/** The primary code, which an extended one has in its lowest byte. */
export const primary = (code) => code & 0xff;
