// The statements of a mix as trees, from which each layer's builder makes its chain of calls.
//
// A tree has the parts for which every builder has a call: tables, columns, joins, conditions, values, order, limit. An
// expression within them, such as `balance + 5`, stays a fragment of SQL, as in a program that uses such a layer.

const NAME = "[a-z_][a-z0-9_]*";
const COLUMN = `(?:${NAME}\\.)?${NAME}`;
const VALUE = "\\$\\d+\\$|\\d{1,15}";
/** Stands for a literal, or for the content of parentheses. */
const HIDDEN = "\x01\\d+\x01";
const JOIN = ` (?:inner )?join (${NAME}) on (${COLUMN}) = (${COLUMN})`;
/** The kinds of statements that have trees. */
const KINDS = {
  select:
    `select (?<items>.+?) from (?<table>${NAME})(?<joins>(?:${JOIN})*)(?: where (?<where>.+?))?` +
    `(?: order by (?<order>.+?))?(?: limit (?<limit>${VALUE}))?(?: offset (?<offset>${VALUE}))?(?<locks> for update)?`,
  insert: `insert into (?<table>${NAME}) ?(?<names>${HIDDEN})? ?values ?(?<values>${HIDDEN})`,
  update: `update (?<table>${NAME}) set (?<set>.+?)(?: where (?<where>.+))?`,
  delete: `delete from (?<table>${NAME})(?: where (?<where>.+))?`,
};
/** Words that no part of a tree has. */
const OTHER = /\b(as|distinct|for|from|group|having|join|limit|offset|order|returning|union|where|window)\b/i;

/** The text of a statement, in which `$0$` stands for its first parameter. `pieces` are the texts around these. */
export const textOf = (pieces) => pieces.reduce((text, piece, place) => `${text}$${place - 1}$${piece}`);

/** The tree of a statement; null where it has none. `columns` returns the names of a table's columns. */
export function parse(pieces, columns) {
  const text = new Text(textOf(pieces));
  for (const [kind, pattern] of Object.entries(KINDS)) {
    const parts = new RegExp(`^${pattern}$`, "i").exec(text.plain)?.groups;
    if (parts) {
      const { items, where, order, set } = parts;
      const tree = { kind, table: column(parts.table)?.name, ...text[kind](parts, columns) };
      return [items, where, order, set].some((part) => OTHER.test(part ?? "")) || !isWhole(tree) ? null : tree;
    }
  }
  return null;
}

/** False if a part could not be read: a name with capital letters, or what is no column where one must be. */
function isWhole(part) {
  return part !== undefined && (part === null || typeof part !== "object" || Object.values(part).every(isWhole));
}

/** A text in which literals and parentheses are hidden, so that commas and words are those of the statement itself. */
class Text {
  #hidden = [];

  constructor(text) {
    const hide = (found) => `\x01${this.#hidden.push(found) - 1}\x01`;
    this.plain = text.replace(/'(?:[^']|'')*'/g, hide).replace(/\s+/g, " ").replace(/^ | ?;? ?$/g, "");
    while (/\([^()]*\)/.test(this.plain)) {
      this.plain = this.plain.replace(/\([^()]*\)/g, hide);
    }
  }

  select({ items, joins, where, order, limit, offset, locks }) {
    const each = [...joins.matchAll(new RegExp(JOIN, "gi"))];
    return {
      items: named(items.split(",").map((one) => this.#item(one.trim()))),
      joins: each.map(([, table, left, right]) => ({
        table: column(table)?.name,
        left: column(left),
        right: column(right),
      })),
      where: this.#where(where),
      order: (order?.split(",") ?? []).map((one) => ordered(one.trim())),
      limit: limit ? this.#value(limit) : null,
      offset: offset ? this.#value(offset) : null,
      locks: Boolean(locks),
    };
  }

  insert({ table, names, values }, columns) {
    const list = (found) => this.#open(found).slice(1, -1).split(",").map((one) => one.trim());
    const set = (names ? list(names) : columns(table)).map((name) => column(name)?.name);
    const all = list(values).map((one) => this.#value(one));
    return { set: set.length === all.length ? set.map((name, place) => [name, all[place]]) : undefined };
  }

  update({ set, where }) {
    const change = (one) => /^([^=]+?) ?= ?(.+)$/.exec(one.trim());
    const changes = set.split(",").map(change);
    return {
      set: changes.map((found) => (found ? [column(found[1])?.name, this.#value(found[2])] : undefined)),
      where: this.#where(where),
    };
  }

  delete({ where }) {
    return { where: this.#where(where) };
  }

  /** The conditions that all must hold. */
  #where(where = "") {
    const all = /\b(or|between|case)\b/i.test(where) ? [where] : where.split(/ and /i).filter(Boolean);
    return all.map((one) => {
      const [, left, comparison, right] = /^(\S+?) ?(=|<>|<=|>=|<|>) ?([^=<>]+)$/.exec(one) ?? [];
      const found = left && column(left);
      return found ? { left: found, comparison, right: this.#value(right) } : { fragment: this.#show(one) };
    });
  }

  /** Something that is selected. A fragment with a name after it would be given a second one. */
  #item(item) {
    const isNamed = /[\w\x01] (?!end$)\w+$/i.test(item) || item.endsWith("*");
    return column(item) ?? (isNamed ? undefined : { fragment: this.#show(item) });
  }

  /** A parameter, a whole number, or a fragment. */
  #value(value) {
    const [, parameter, number] = /^(?:\$(\d+)\$|(\d{1,15}))$/.exec(value) ?? [];
    if (parameter !== undefined) {
      return { parameter };
    }
    return number === undefined ? { fragment: this.#show(value) } : { number };
  }

  /** A part with what is hidden in it, once or down to the last. */
  #open(part) {
    return part.replace(new RegExp(HIDDEN, "g"), (found) => this.#hidden[found.slice(1, -1)]);
  }
  #show(part) {
    return part.includes("\x01") ? this.#show(this.#open(part)) : part;
  }
}

/** A column, with its table where that is named. */
function column(text) {
  const [whole, table, name] = new RegExp(`^(?:(${NAME})\\.)?(${NAME})$`).exec(text) ?? [];
  return whole && name !== "null" ? { ...(table && { table }), name } : undefined;
}

/** Gives each item a name by which it is found in an object. */
function named(items) {
  const taken = new Set();
  return items.map((one, place) => {
    const as = one?.name === undefined || taken.has(one.name) ? `column_${place + 1}` : one.name;
    taken.add(as);
    return one && { ...one, as };
  });
}

function ordered(text) {
  const [, name, direction] = /^(\S+?)(?: (asc|desc))?$/i.exec(text) ?? [];
  const found = column(name);
  return found && { ...found, isDown: /desc/i.test(direction) };
}
