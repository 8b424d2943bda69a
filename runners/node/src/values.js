// Values of rows in the form of the contract: JSON's own, and `{"blob": "00ff"}` for bytes.

/** A value of any type that a driver fetched, as JSON. */
export function toJson(value) {
  switch (typeof value) {
    case "number":
      return number(value);
    case "string":
      return JSON.stringify(value);
    case "bigint":
      return value.toString();
    case "boolean":
      return value ? "1" : "0";
  }
  if (value === null || value === undefined) {
    return "null";
  }
  if (value instanceof Uint8Array) {
    return `{"blob":"${Buffer.from(value.buffer, value.byteOffset, value.length).toString("hex")}"}`;
  }
  if (value instanceof Decimal) {
    return value.text;
  }
  // What JSON has, as JSON; other types, as they print.
  const isPlain = Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype;
  return JSON.stringify(isPlain ? JSON.stringify(value) : value instanceof Date ? value.toISOString() : String(value));
}

/** A decimal with more digits than a number of JavaScript holds. */
export class Decimal {
  constructor(text) {
    this.text = text;
  }
  toString() {
    return this.text;
  }
  toJSON() {
    return this.text;
  }
}

/** The digits that every number of JavaScript holds. https://tc39.es/ecma262: it is a double of IEEE 754. */
const DIGITS = 15;

/** A number. JSON has no infinities and no NaN: they are written by name. A whole number beyond 2⁵³ may have been
 *  rounded when the driver made a JavaScript number of it, so it is written as a real. */
function number(value) {
  if (Number.isFinite(value)) {
    const text = String(value);
    return Number.isInteger(value) && !Number.isSafeInteger(value) && !text.includes("e") ? `${text}.0` : text;
  }
  return Number.isNaN(value) ? '"NaN"' : value > 0 ? '"inf"' : '"-inf"';
}

/** The number of a text of digits, exactly; a decimal without a fraction to show is whole, as every runner reads it. */
export function numberOf(text) {
  const found = Number(text);
  // Most are these. Layers parse each value of some columns with this function.
  if (Number.isSafeInteger(found) && !text.includes(".")) {
    return found;
  }
  if (/^-?\d+$/.test(text)) {
    return BigInt(text);
  }
  const isLong = /^-?\d+\.\d+$/.test(text) && text.replace(/^-?0*\.?0*|\.|-/g, "").length > DIGITS;
  return isLong ? new Decimal(text) : found;
}
