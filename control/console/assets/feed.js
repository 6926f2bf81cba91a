// What is asked of the server now and then, while it is looked at.

const known = new Map(); // by path: {value, trouble, at, asking}

// take gives what is known of a path.
export const take = path => known.get(path) || {value: null, trouble: ""};

// ask asks for a path if what is known is older than every milliseconds, and calls then once
// there is something new.
export async function ask(path, every, then) {
  const entry = known.get(path) || {value: null, trouble: "", at: 0, asking: false};
  known.set(path, entry);
  if (entry.asking || document.hidden || (entry.at && Date.now() - entry.at < every)) return;
  entry.asking = true;
  try {
    const answer = await fetch(path, {headers: {Accept: "application/json"}});
    const body = await answer.json();
    if (answer.ok) { entry.value = body; entry.trouble = ""; } else { entry.trouble = body.error || answer.statusText; }
  } catch {
    entry.trouble = "the proxy doesn't answer";
  }
  entry.asking = false;
  entry.at = Date.now();
  then();
}

// forget has a path be asked for again at once.
export function forget(path) { const entry = known.get(path); if (entry) entry.at = 0; }

// get asks once. It throws what the server says against it.
export async function get(path) {
  let answer, text;
  try {
    answer = await fetch(path, {headers: {Accept: "application/json"}});
    text = await answer.json();
  } catch {
    throw new Error("The proxy doesn't answer.");
  }
  if (!answer.ok) throw new Error(text.error);
  return text;
}

// send posts JSON. It throws what the server says against it.
export async function send(path, body) {
  let answer, text;
  try {
    answer = await fetch(path, {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(body)});
    text = await answer.json();
  } catch {
    throw new Error("The proxy doesn't answer: look in the journal whether it was told.");
  }
  if (!answer.ok) throw new Error("Refused: " + text.error);
  return text;
}
