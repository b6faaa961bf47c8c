// The page: sends the text to the program and displays the answer.
import { load } from "./wasi.mjs";

/** Milliseconds after the last key press before the text is checked. */
const PAUSE = 250;
/** Maximum number of characters to mark for a place, because a place can be the complete text. */
const MAX_MARKED = 2000;
/** Characters to show at each end of a long unchanged part. */
const CONTEXT = 90;

const EXAMPLE = `{
  "model": "claude-sonnet-5",
  "max_tokens": 1024,
  "messages": [
    { "role": "user", "content": "Look up both orders." },
    { "role": "assistant", "content": [
      { "type": "text", "text": "Let me look." },
      { "type": "tool_use", "id": "toolu_1", "name": "lookup", "input": { "order": 17 } },
      { "type": "tool_use", "id": "toolu_2", "name": "lookup", "input": { "order": 18 } }
    ] },
    { "role": "user", "content": [
      { "type": "tool_result", "tool_use_id": "toolu_1", "content": "shipped" }
    ] },
    { "role": "assistant", "content": "Order 17 is on its way." },
    { "role": "user", "content": "And the other one?" }
  ]
}
`;

const at = (id) => document.getElementById(id);
const [text, marks, verdict, notes, repair, findings] = ["text", "marks", "verdict", "notes", "repair", "findings"].map(at);

/** Makes an element with properties and children. Text is never parsed as HTML. */
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter((child) => child !== null));
  return made;
}

const button = (words, press, properties = {}) =>
  element("button", { type: "button", textContent: words, onclick: press, ...properties });

/** Unpacks the program, which the page contains gzipped. */
async function program() {
  const packed = Uint8Array.from(atob(at("program").textContent.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** The question about the text in the box. */
function question(kind, more = {}) {
  const asked = { ask: kind, text: text.value, ...more };
  for (const name of ["dialect", "host", "model", "profile"]) {
    const value = at(name).value.trim();
    if (value && !at(name).disabled) asked[name] = value;
  }
  return asked;
}

let ask;
let latest = 0;
let pause;

/** Checks the text and then searches for a repair. Answers for an outdated text are not displayed. */
async function check() {
  const own = ++latest;
  clearTimeout(pause);
  clear();
  if (text.value.trim() === "") {
    show("", "Paste a request, drop a file, or load the example.");
    return;
  }
  const asked = question("check");
  const answer = await answered(asked);
  if (own !== latest) return;
  if (answer.unjudged) {
    show("unjudged", `Not judged: ${answer.unjudged.reason}.`);
    notes.append(element("ul", {}, ...answer.unjudged.hints.map((hint) => element("li", { className: "note" }, ...code(hint)))));
    return;
  }
  const request = answer.report.requests[0];
  if (answer.found) take(asked, answer.found);
  drawVerdict(request, answer);
  if (answer.found) notes.append(element("p", { className: "note" }, told(answer.found)));
  drawMarks(asked.text, request, answer);
  findings.replaceChildren(...request.findings.map((finding, n) => drawn(finding, answer, n)));
  if (request.more_findings > 0) findings.append(element("p", { className: "note" }, `… and ${request.more_findings} more.`));
  if (request.verdict === "refused") await look(own, {});
}

/** Puts the request that was found inside the text in its place, so that it can be marked and repaired. */
function take(asked, found) {
  text.value = asked.text = found.text;
  for (const name of ["host", "model"]) {
    if (found[name] && !at(name).disabled) at(name).value = found[name];
  }
}

/** Says where the request was. */
function told({ place, n }) {
  const others = n > 1 ? `, one of ${n} requests` : "";
  return `The request was found at ${place}${others}. It has replaced the text.`;
}

/** Searches for an edit that makes the request acceptable. */
async function look(own, more) {
  repair.replaceChildren(element("p", { className: "note" }, "Searching for a repair …"));
  // Let the browser paint the verdict first.
  await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
  const asked = question("repair", more);
  const answer = await answered(asked);
  if (own !== latest) return;
  if (answer.mended) repair.replaceChildren(drawnRepair(asked.text, answer.mended));
  else if (answer.beyond) repair.replaceChildren(drawnBeyond(own, answer.beyond));
  else repair.replaceChildren();
}

/** Gets an answer. If the program fails, the page displays a message. */
async function answered(asked) {
  try {
    const answer = await ask(asked);
    return answer.error ? { unjudged: { reason: answer.error, hints: [] } } : answer;
  } catch (error) {
    return { unjudged: { reason: `this is a bug in Brickbat, please report it: ${error.message}`, hints: [] } };
  }
}

function clear() {
  for (const place of [notes, repair, findings, marks]) place.replaceChildren();
}

function show(kind, ...words) {
  verdict.className = `verdict ${kind}`;
  verdict.replaceChildren(...words.filter((word) => word !== null));
}

/** Splits a text into plain text and code, which is between backticks. */
function code(words) {
  return words.split("`").map((part, n) => (n % 2 ? element("code", {}, part) : part));
}

function drawVerdict(request, answer) {
  const n_warnings = request.findings.filter((finding) => finding.level === "warning").length;
  const warnings = n_warnings ? `, with ${n_warnings} warning${n_warnings > 1 ? "s" : ""}` : "";
  const by = element("code", {}, request.profile);
  const union = request.profile.startsWith("union:");
  const refusal = request.findings.find((finding) => finding.level === "refused");
  const sentence = refusal ? element("p", {}, refusal.message) : null;
  if (request.status === null) {
    show("accepted", element("strong", {}, "Accepted"), union ? " by every provider in " : " by ", by, `${warnings}.`);
  } else if (union) {
    show("refused", element("strong", {}, "Refused"), ` by ${request.refused_by.length} of ${answer.n_relatives} in `, by, `${warnings}.`, sentence);
  } else {
    show("refused", element("strong", {}, "Refused"), ` with status ${request.status} by `, by, `${warnings}.`, sentence);
  }
  const note = (words) => notes.append(element("p", { className: "note" }, ...code(words)));
  if (request.profile_by === "newest" && answer.n_relatives > 1) {
    note(`No host is set, so the rules of the original provider of ${request.dialect} were used. Set the host if yours is different.`);
  }
  if (request.rules_by_model.length > 0) {
    const rules = request.rules_by_model.map((rule) => `\`${rule}\``).join(", ");
    note(`No model is set, so these rules were only partly applied: ${rules}.`);
  }
}

/** Marks the places in a copy of the text under the box. */
function drawMarks(words, request, answer) {
  const places = request.findings.map((finding, n) => ({
    level: finding.level,
    start: answer.places[n].start,
    end: Math.min(answer.places[n].end, answer.places[n].start + MAX_MARKED),
    n,
  }));
  const cuts = [...new Set(places.flatMap((place) => [place.start, place.end]))].sort((a, b) => a - b);
  let from = 0;
  for (const cut of [...cuts, words.length]) {
    const part = words.slice(from, cut);
    const inside = places.filter((place) => place.start <= from && place.end >= cut && place.end > place.start);
    const worst = inside.find((place) => place.level !== "warning") ?? inside[0];
    if (part) marks.append(worst ? element("mark", { className: worst.level }, part) : part);
    for (const place of places.filter((place) => place.start === cut)) {
      marks.append(element("span", { id: `place-${place.n}` }));
    }
    from = cut;
  }
  // A place at the beginning of the text gets its anchor there.
  for (const place of places.filter((place) => place.start === 0 && !at(`place-${place.n}`))) {
    marks.prepend(element("span", { id: `place-${place.n}` }));
  }
  // An empty last line has no height unless it contains a character.
  marks.append("\n ");
  marks.scrollTop = text.scrollTop;
}

/** Scrolls to a place and selects it. */
function goTo(n, place) {
  const sign = at(`place-${n}`);
  text.focus({ preventScroll: true });
  text.setSelectionRange(place.start, Math.min(place.end, place.start + MAX_MARKED));
  if (sign) text.scrollTop = Math.max(0, sign.offsetTop - text.clientHeight / 3);
  text.scrollIntoView({ block: "nearest" });
}

function drawn(finding, answer, n) {
  const place = answer.places[n];
  const minded = [["Refused by", finding.refused_by], ["Warning from", finding.warned_by]];
  const several = answer.report.requests[0].profile.startsWith("union:");
  return element("article", {},
    element("h2", {}, element("span", { className: `level ${finding.level}`, textContent: finding.level }), element("code", {}, finding.rule)),
    element("p", { className: "message" }, finding.message),
    element("p", {}, ...code(finding.summary)),
    ...(several ? minded.filter(([, names]) => names.length).map(([words, names]) => element("p", { className: "note" }, `${words} ${names.join(", ")}.`)) : []),
    excerpt(place.lines),
    element("div", { className: "buttons" },
      button(`Show line ${finding.place.line}, column ${finding.place.column}`, () => goTo(n, place)),
      element("code", { className: "note" }, finding.pointer || "the request")),
    element("p", {}, ...code(finding.mend)),
    element("details", {},
      element("summary", {}, "About this rule"),
      element("pre", {}, answer.explained[finding.rule]),
      element("p", {}, element("a", { href: `rules/${finding.rule}.html` }, "The rule's page, with an example"))));
}

function excerpt(lines) {
  const shown = element("pre", { className: "excerpt", tabIndex: 0 });
  shown.setAttribute("role", "group");
  shown.setAttribute("aria-label", "The text at this place");
  for (const line of lines) {
    const letters = Array.from(line.text);
    const [start, end] = line.marked ?? [letters.length, letters.length];
    shown.append(letters.slice(0, start).join(""));
    if (line.marked) shown.append(element("mark", {}, letters.slice(start, Math.max(end, start + 1)).join("") || " "));
    shown.append(letters.slice(Math.max(end, start)).join(""), "\n");
  }
  return shown;
}

function drawnRepair(old, repaired) {
  const lost = repaired.edits.some((edit) => edit.loses);
  const edits = repaired.edits.map((edit) =>
    element("li", {}, element("code", {}, edit.pointer || "the request"), `: ${edit.words}`, edit.loses ? element("strong", {}, " (this content is lost)") : ""));
  const box = element("textarea", { value: repaired.text, readOnly: true, rows: 12, spellcheck: false });
  box.setAttribute("aria-label", "The repaired request");
  const state = element("span", { className: "note" });
  state.setAttribute("role", "status");
  return element("article", {},
    element("h2", {}, element("span", { className: "level repaired", textContent: "repaired" }),
      `Accepted after ${repaired.edits.length} edit${repaired.edits.length > 1 ? "s" : ""}, ${lost ? "with loss of content" : "without loss of content"}`),
    element("ul", {}, ...edits),
    element("div", { className: "buttons" },
      button("Copy the repaired request", () => copy(repaired.text, box, state), { className: "main", id: "copy" }),
      button("Download", () => download(repaired.text)),
      button("Replace the request", () => { text.value = repaired.text; check(); verdict.focus(); }),
      state),
    change(old, repaired.pieces),
    element("details", {}, element("summary", {}, "Show the complete request"), box));
}

/** The edit with the text around it. */
function change(old, pieces) {
  const shown = element("pre", { className: "edit", tabIndex: 0, id: "edit" });
  shown.setAttribute("role", "group");
  shown.setAttribute("aria-label", "The edit");
  let from = 0;
  pieces.forEach((piece, n) => {
    if (piece.same === undefined) {
      // An edited message is formatted again, so changes to white space are not displayed.
      const words = piece.in ?? piece.out;
      if (words.trim() !== "") shown.append(element(piece.in === undefined ? "del" : "ins", {}, words));
      from += piece.out?.length ?? 0;
      return;
    }
    const same = old.slice(from, from + piece.same);
    from += piece.same;
    const head = n === 0 ? "" : same.slice(0, CONTEXT);
    const tail = n === pieces.length - 1 ? "" : same.slice(-CONTEXT);
    const left = same.length - head.length - tail.length;
    if (left <= CONTEXT) shown.append(same);
    else shown.append(head, element("span", { className: "cut" }, ` … ${left.toLocaleString("en")} unchanged characters … `), tail);
  });
  return shown;
}

function drawnBeyond(own, beyond) {
  const truncate = () => look(own, { truncate: true });
  return element("article", {},
    element("p", {}, `No repair is known: ${beyond.reason}.`),
    beyond.can_truncate
      ? element("p", {}, "The request is accepted if the conversation ends before that place. Everything after it is lost. ",
          button("Truncate there", truncate))
      : null);
}

async function copy(words, box, state) {
  try {
    await navigator.clipboard.writeText(words);
  } catch {
    // Without permission, or in an old browser.
    box.closest("details").open = true;
    box.select();
    if (!document.execCommand("copy")) {
      state.textContent = "Not copied. Copy the selected text below.";
      return;
    }
  }
  state.textContent = "Copied.";
}

function download(words) {
  const address = URL.createObjectURL(new Blob([words], { type: "application/json" }));
  element("a", { href: address, download: "request.fixed.json" }).click();
  setTimeout(() => URL.revokeObjectURL(address));
}

async function read(file) {
  if (!file) return;
  text.value = await file.text();
  check();
}

function choices(catalogue) {
  at("version").textContent = catalogue.version;
  at("dialect").append(...catalogue.dialects.map(({ name }) => element("option", { value: name }, name)));
  for (const { name } of catalogue.dialects) {
    const profiles = catalogue.profiles.filter((profile) => profile.dialect === name);
    const options = [...profiles.map((profile) => [profile.name, profile.name]), [`union:${name}`, `all profiles of ${name} at once`]];
    at("profile").append(element("optgroup", { label: name }, ...options.map(([value, words]) => element("option", { value }, words))));
  }
  at("hosts").append(...catalogue.hosts.filter((host) => !host.includes("*")).map((value) => element("option", { value })));
}

text.addEventListener("input", () => {
  marks.replaceChildren();
  clearTimeout(pause);
  pause = setTimeout(check, PAUSE);
});
text.addEventListener("scroll", () => { marks.scrollTop = text.scrollTop; });
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) check().then(() => verdict.focus());
});
for (const name of ["dialect", "host", "model", "profile"]) {
  at(name).addEventListener("change", () => {
    // A profile includes the choice of the host.
    at("host").disabled = at("profile").value !== "";
    check();
  });
}
// On narrow screens, the verdict is at the top.
at("whom").open = innerWidth >= 960;
/** Starts with another text and resets the options. */
function begin(words) {
  text.value = words;
  for (const name of ["dialect", "host", "model", "profile"]) at(name).value = "";
  at("host").disabled = false;
  check();
}
at("example").onclick = () => begin(EXAMPLE);
at("clear").onclick = () => { begin(""); text.focus(); };
at("open").onclick = () => at("file").click();
at("file").onchange = () => { read(at("file").files[0]); at("file").value = ""; };
const editor = text.parentElement;
for (const [kind, is] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
  editor.addEventListener(kind, (event) => {
    if (kind !== "dragleave" && event.dataTransfer.types.includes("Files")) event.preventDefault();
    editor.classList.toggle("over", is);
    if (kind === "drop") read(event.dataTransfer.files[0]);
  });
}
at("theme").onclick = () => {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
};

try {
  ask = await load(await program());
  choices(await ask({ ask: "catalogue" }));
  await check();
} catch (error) {
  show("unjudged", `The program cannot run here: ${error.message}. It needs a browser from 2023 or later.`);
}
