// JSON as somebody wrote it: indented, and searched for a member, without reading it into values. A number with more digits than
// a value of this language holds, or a name that comes twice, would else not be the record's any more.

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

function isJSON(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Returns JSON with a line for each member; every other text as it is. */
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

/** Returns where each member begins and ends, by its path: `data.location.latitude`. A text that is no JSON is read as far as it goes. */
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

/** Returns the index of the character in which a byte of the text's UTF-8 lies. */
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

/** Returns `{start, end}` of what is at fault in a text, as far as it can be told: a member, or the byte that is no JSON. */
export function placeOf({ member, message }, text) {
  const found = members(text);
  const place = found.get(member) ?? found.get(`data.${member}`);
  if (place) return place;

  const byte = /at byte (\d+)/.exec(message ?? "")?.[1];
  if (byte === undefined || text === "") return undefined;
  const start = Math.min(characterAt(text, Number(byte)), text.length - 1);
  return { start, end: start + 1 };
}
