// JSON in its original text: indented, and searched for a member, without parsing it into values. Parsing would change numbers with
// too many digits and repeated names.

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

function isJSON(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns JSON with one line per member; other texts unchanged. */
export function indented(text) {
  if (!isJSON(text)) return text;
  let [result, depth, previous] = ["", 0, ""];
  const line = () => `\n${"  ".repeat(depth)}`;
  for (const [token] of text.matchAll(TOKENS)) {
    const closes = token === "}" || token === "]";
    if (closes) depth -= 1;
    const isFirst = previous === "{" || previous === "[";
    if (closes && !isFirst) result += line();
    else if (!closes && (isFirst || previous === ",")) result += line();
    result += token === ":" ? ": " : token;
    if (token === "{" || token === "[") depth += 1;
    previous = token;
  }
  return result;
}

/** Returns the start and the end of each member by its path, such as `data.location.latitude`. An invalid text is read up to its fault. */
function members(text) {
  const found = new Map();
  const open = [];
  const end = (at) => {
    const path = open.map(({ key }) => key).join(".");
    if (open.length > 0 && !found.has(path)) found.set(path, { start: open.at(-1).start, end: at });
  };
  for (const { 0: token, index } of text.matchAll(TOKENS)) {
    const inside = open.at(-1);
    if (token === "{" || token === "[") open.push({ isArray: token === "[", key: token === "[" ? 0 : undefined, start: index + 1 });
    else if (token === "}" || token === "]") {
      open.pop();
      end(index + 1);
    } else if (token === ",") {
      if (!inside) continue;
      inside.key = inside.isArray ? inside.key + 1 : undefined;
      inside.start = index + 1;
    } else if (token !== ":" && inside) {
      if (!inside.isArray && inside.key === undefined) {
        inside.key = isJSON(token) ? String(JSON.parse(token)) : token;
        inside.start = index;
      } else end(index + token.length);
    }
  }
  return found;
}

/** Returns the index of the character that contains a byte of the text's UTF-8. */
function characterAt(text, byte) {
  let [bytes, index] = [0, 0];
  for (const character of text) {
    const point = character.codePointAt(0);
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (bytes > byte) break;
    index += character.length;
  }
  return index;
}

/** Returns `{start, end}` of the faulty part of a text, if it can be found: a member, or the first byte that is not JSON. */
export function placeOf({ member, message }, text) {
  const found = members(text);
  const place = found.get(member) ?? found.get(`data.${member}`);
  if (place) return place;

  const byte = /at byte (\d+)/.exec(message ?? "")?.[1];
  if (byte === undefined || text === "") return undefined;
  const start = Math.min(characterAt(text, Number(byte)), text.length - 1);
  return { start, end: start + 1 };
}
