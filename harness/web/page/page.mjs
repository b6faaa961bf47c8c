// The page: asks the program about the text, and draws what it answers.
import { load } from "./wasi.mjs";

/** Milliseconds without a key after which a text is checked. */
const PAUSE = 250;
/** Characters of a place that are marked in the text; a place can be the whole of it. */
const MAX_MARKED = 2000;
/** Characters that are shown at each end of a long stretch that stays as it is. */
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

/** An element with properties and children; text is never read as HTML. */
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children.filter((child) => child !== null));
  return made;
}

const button = (words, press, properties = {}) =>
  element("button", { type: "button", textContent: words, onclick: press, ...properties });

/** The bytes of the program, which is gzipped in the page. */
async function program() {
  const packed = Uint8Array.from(atob(at("program").textContent.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** What is asked of the text in the box. */
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

/** Checks the text, and then looks for an edit; an answer that comes after the text has changed is not drawn. */
async function check() {
  const own = ++latest;
  clearTimeout(pause);
  clear();
  if (text.value.trim() === "") {
    show("", "Paste a request, drop a file, or take the example.");
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
  drawVerdict(request, answer);
  drawMarks(asked.text, request, answer);
  findings.replaceChildren(...request.findings.map((finding, n) => drawn(finding, answer, n)));
  if (request.more_findings > 0) findings.append(element("p", { className: "note" }, `… and ${request.more_findings} more.`));
  if (request.verdict === "refused") await look(own, {});
}

/** Looks for an edit after which the request is accepted. */
async function look(own, more) {
  repair.replaceChildren(element("p", { className: "note" }, "Looking for an edit …"));
  // The verdict is painted first.
  await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
  const asked = question("repair", more);
  const answer = await answered(asked);
  if (own !== latest) return;
  if (answer.mended) repair.replaceChildren(drawnRepair(asked.text, answer.mended));
  else if (answer.beyond) repair.replaceChildren(drawnBeyond(own, answer.beyond));
  else repair.replaceChildren();
}

/** An answer; a program that fails leaves a message and not an empty page. */
async function answered(asked) {
  try {
    const answer = await ask(asked);
    return answer.error ? { unjudged: { reason: answer.error, hints: [] } } : answer;
  } catch (error) {
    return { unjudged: { reason: `this is a bug of Brickbat, please report it: ${error.message}`, hints: [] } };
  }
}

function clear() {
  for (const place of [notes, repair, findings, marks]) place.replaceChildren();
}

function show(kind, ...words) {
  verdict.className = `verdict ${kind}`;
  verdict.replaceChildren(...words.filter((word) => word !== null));
}

/** Words in which `…` is code. */
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
    show("accepted", element("strong", {}, "Accepted"), union ? " by everyone in " : " by ", by, `${warnings}.`);
  } else if (union) {
    show("refused", element("strong", {}, "Refused"), ` by ${request.refused_by.length} of ${answer.n_relatives} in `, by, `${warnings}.`, sentence);
  } else {
    show("refused", element("strong", {}, "Refused"), ` with status ${request.status} by `, by, `${warnings}.`, sentence);
  }
  const note = (words) => notes.append(element("p", { className: "note" }, ...code(words)));
  if (request.profile_by === "newest" && answer.n_relatives > 1) {
    note(`No host is named, so the own provider of ${request.dialect} judged. Name the host if it is another.`);
  }
  if (request.rules_by_model.length > 0) {
    const rules = request.rules_by_model.map((rule) => `\`${rule}\``).join(", ");
    note(`No model is named, so these rules were not applied in full: ${rules}.`);
  }
}

/** Marks the places in the text, in a copy of it under the box. */
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
  // A text that begins with a place has its sign there.
  for (const place of places.filter((place) => place.start === 0 && !at(`place-${place.n}`))) {
    marks.prepend(element("span", { id: `place-${place.n}` }));
  }
  // The last line of a text counts only with something in it.
  marks.append("\n ");
  marks.scrollTop = text.scrollTop;
}

/** Brings a place into view, and selects it. */
function goTo(n, place) {
  const sign = at(`place-${n}`);
  text.focus({ preventScroll: true });
  text.setSelectionRange(place.start, Math.min(place.end, place.start + MAX_MARKED));
  if (sign) text.scrollTop = Math.max(0, sign.offsetTop - text.clientHeight / 3);
  text.scrollIntoView({ block: "nearest" });
}

function drawn(finding, answer, n) {
  const place = answer.places[n];
  const minded = [["Refused by", finding.refused_by], ["Warned of by", finding.warned_by]];
  const several = answer.report.requests[0].profile.startsWith("union:");
  return element("article", {},
    element("h2", {}, element("span", { className: `level ${finding.level}`, textContent: finding.level }), element("code", {}, finding.rule)),
    element("p", { className: "said" }, finding.message),
    element("p", {}, ...code(finding.summary)),
    ...(several ? minded.filter(([, names]) => names.length).map(([words, names]) => element("p", { className: "note" }, `${words} ${names.join(", ")}.`)) : []),
    excerpt(place.lines),
    element("div", { className: "buttons" },
      button(`Show line ${finding.place.line}, column ${finding.place.column}`, () => goTo(n, place)),
      element("code", { className: "note" }, finding.pointer || "the whole")),
    element("p", {}, ...code(finding.mend)),
    element("details", {},
      element("summary", {}, "What is known of this rule"),
      element("pre", {}, answer.explained[finding.rule]),
      element("p", {}, element("a", { href: `rules/${finding.rule}.html` }, "Its page, with an example"))));
}

function excerpt(lines) {
  const shown = element("pre", { className: "excerpt", tabIndex: 0 });
  shown.setAttribute("role", "group");
  shown.setAttribute("aria-label", "What stands there");
  for (const line of lines) {
    const letters = Array.from(line.text);
    const [start, end] = line.marked ?? [letters.length, letters.length];
    shown.append(letters.slice(0, start).join(""));
    if (line.marked) shown.append(element("mark", {}, letters.slice(start, Math.max(end, start + 1)).join("") || " "));
    shown.append(letters.slice(Math.max(end, start)).join(""), "\n");
  }
  return shown;
}

function drawnRepair(old, mended) {
  const lost = mended.edits.some((edit) => edit.loses);
  const edits = mended.edits.map((edit) =>
    element("li", {}, element("code", {}, edit.pointer || "the whole"), `: ${edit.words}`, edit.loses ? element("strong", {}, " (it stands nowhere else)") : ""));
  const whole = element("textarea", { value: mended.text, readOnly: true, rows: 12, spellcheck: false });
  whole.setAttribute("aria-label", "The mended request");
  const state = element("span", { className: "note" });
  state.setAttribute("role", "status");
  return element("article", {},
    element("h2", {}, element("span", { className: "level mended", textContent: "mended" }),
      `Accepted after ${mended.edits.length} edit${mended.edits.length > 1 ? "s" : ""}, ${lost ? "which take something out" : "and nothing is lost"}`),
    element("ul", {}, ...edits),
    element("div", { className: "buttons" },
      button("Copy the mended request", () => copy(mended.text, whole, state), { className: "main", id: "copy" }),
      button("Download", () => download(mended.text)),
      button("Put it into the box", () => { text.value = mended.text; check(); verdict.focus(); }),
      state),
    change(old, mended.pieces),
    element("details", {}, element("summary", {}, "The whole of it"), whole));
}

/** The edit, with what stands around it. */
function change(old, pieces) {
  const shown = element("pre", { className: "edit", tabIndex: 0, id: "edit" });
  shown.setAttribute("role", "group");
  shown.setAttribute("aria-label", "The edit");
  let from = 0;
  pieces.forEach((piece, n) => {
    if (piece.same === undefined) {
      // A message that is edited is written anew, and white space is no change to anybody.
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
    else shown.append(head, element("span", { className: "cut" }, ` … ${left.toLocaleString("en")} characters as they were … `), tail);
  });
  return shown;
}

function drawnBeyond(own, beyond) {
  const truncate = () => look(own, { truncate: true });
  return element("article", {},
    element("p", {}, `No edit is known: ${beyond.reason}.`),
    beyond.can_truncate
      ? element("p", {}, "It is accepted if the conversation ends before that; what came after is lost. ",
          button("End it there", truncate))
      : null);
}

async function copy(words, whole, state) {
  try {
    await navigator.clipboard.writeText(words);
  } catch {
    // Without leave, or in an old browser.
    whole.closest("details").open = true;
    whole.select();
    if (!document.execCommand("copy")) {
      state.textContent = "Not copied; it is selected below.";
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
    const options = [...profiles.map((profile) => [profile.name, profile.name]), [`union:${name}`, `all of ${name} at once`]];
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
    // A profile says all that a host says.
    at("host").disabled = at("profile").value !== "";
    check();
  });
}
// On a telephone the verdict comes first.
at("whom").open = innerWidth >= 960;
/** Another text, which has nothing to do with what was chosen for the last one. */
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
  show("unjudged", `The program cannot run here: ${error.message}. It needs a browser of 2023 or later.`);
}
