// Functions that are written for a statement or a class, as a program that knows them would have them.

/** By its text, what makes a function of what it calls. */
const known = new Map();

/** The function of these parameters with this body: written once, and not by each client that comes and goes within the clock. */
export function written(names, body) {
  const text = `${names}: ${body}`;
  if (!known.has(text)) {
    known.set(text, new Function(...names, body));
  }
  return known.get(text);
}
