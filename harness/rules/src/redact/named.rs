//! Secrets after a name: `Bearer …`, a header in a dump, a field, a variable, an option, a query
//! parameter.
//!
//! A name is not enough: `password: str` is code, and `token: required` is a sentence. The value must look
//! like a secret too, and how much depends on the name.

use super::bytes::{CUT, is_alphanumeric, is_base64, is_hex, is_token, run};

/// The kind of a name. It determines how much the value must look like a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A header: the rest of the line.
    Header,
    /// A password: nearly any value.
    Password,
    /// A key.
    Key,
    /// A name with other uses too: only values that look random.
    Weak,
    /// A request signature, which consists only of hexadecimal digits.
    Signature,
    /// A machine name.
    Machine,
}

/// Maximum length of a name in bytes.
const MAX_NAME: usize = 64;

/// Maximum number of quotes, backslashes and spaces between a name and its value.
const MAX_BETWEEN: usize = 12;

/// Returns the range of the secret after the name at a position.
pub(super) fn announced(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    let rest = &bytes[at..];
    if let Some(found) = bearer(bytes, at) {
        return found;
    }
    let whole = run(&rest[..rest.len().min(MAX_NAME + 1)], is_token);
    if whole > MAX_NAME {
        return None;
    }
    let name = std::str::from_utf8(&rest[..whole]).ok()?.trim_start_matches('-');
    let is_option = rest.starts_with(b"--");
    let between = Between::after(bytes, at + whole, is_option)?;
    let is_query =
        between.is_tight && at > 0 && (b"?&".contains(&bytes[at - 1]) || bytes[..at].ends_with(b"&amp;"));
    if is_query && is_query_name(name) {
        let len =
            run(&bytes[between.value..], |byte| byte.is_ascii_graphic() && !b"&#\"'<>\\`".contains(&byte));
        let value = &bytes[between.value..between.value + len];
        let looks = len >= 10 || (len >= 6 && value.iter().any(u8::is_ascii_digit));
        return (looks && !is_told_already(value)).then_some((between.value, between.value + len));
    }
    let kind = match kind_of(name)? {
        Kind::Header if between.is_option => Kind::Key,
        kind => kind,
    };
    if between.is_sentence && kind != Kind::Password {
        return None;
    }
    let (start, end) = value(bytes, between, kind, name);
    let found = Found { value: &bytes[start..end], after: bytes.get(end).copied(), between };
    let is_cut = bytes[end..].starts_with(CUT) && end > start + 3;
    (found.looks_like(kind) || (is_cut && found.may_be_cut(kind))).then_some((start, end))
}

/// Finds the token after `Bearer`. Returns `None` if the word is a different one.
fn bearer(bytes: &[u8], at: usize) -> Option<Option<(usize, usize)>> {
    const MIN_TOKEN: usize = 8;
    let rest = &bytes[at..];
    let starts_with =
        |word: &[u8]| rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let len = [&b"bearer "[..], b"bearer%20"].into_iter().find(|word| starts_with(word))?.len();
    let start = at + len;
    let len = run(&bytes[start..], |byte| is_alphanumeric(byte) || b"-._~+/=".contains(&byte));
    let token = &bytes[start..start + len];
    let is_cut = len >= 4 && bytes[start + len..].starts_with(CUT);
    let is_secret = len >= 20 || (len >= MIN_TOKEN && has_digit(token)) || (is_cut && has_digit(token));
    Some(is_secret.then_some((start, start + len)))
}

/// The text between a name and its value.
#[derive(Debug, Clone, Copy)]
struct Between {
    /// The position where the value begins.
    value: usize,
    is_quoted: bool,
    /// True if the text is only `=`.
    is_tight: bool,
    /// True if the text is the word `is` or `was`.
    is_sentence: bool,
    /// True if the text is a space after an option name.
    is_option: bool,
}

impl Between {
    fn after(bytes: &[u8], end: usize, is_option: bool) -> Option<Between> {
        let is_filler = |byte: u8| b"\"'\\ `".contains(&byte);
        let filler = |at: usize| run(&bytes[at..bytes.len().min(at + MAX_BETWEEN)], is_filler);
        let n = filler(end);
        let sign = end + n;
        let (mut next, is_sentence) = match bytes.get(sign) {
            Some(b':' | b'=') => (sign + 1, false),
            // As in `password is SECRET`. The next case is `--password SECRET`.
            Some(b'i' | b'w')
                if n == 1 && [&b"is "[..], b"was "].iter().any(|word| bytes[sign..].starts_with(word)) =>
            {
                (sign + if bytes[sign] == b'i' { 2 } else { 3 }, true)
            }
            Some(_) if is_option && n > 0 => (end, false),
            _ => return None,
        };
        // `:=`, `==`, `=>`.
        next += run(&bytes[next..bytes.len().min(next + 2)], |byte| b"=>".contains(&byte));
        let n = filler(next);
        let mut value = next + n;
        let mut is_quoted = bytes[next..value].iter().any(|byte| b"\"'`".contains(byte));
        // A string in Python or Rust may have a letter before its quote.
        if !is_quoted
            && bytes.get(value).is_some_and(|byte| b"bfruBFRU".contains(byte))
            && bytes.get(value + 1).is_some_and(|byte| b"\"'".contains(byte))
        {
            value += 2;
            is_quoted = true;
        }
        // The letter of an escape does not belong to the value.
        if value > next && bytes[value - 1] == b'\\' {
            value += match bytes.get(value) {
                Some(b'u') if bytes.len() >= value + 5 => 5,
                Some(b'n' | b'r' | b't' | b'b' | b'f') => 1,
                _ => 0,
            };
        }
        let is_tight = sign == end && bytes[sign] == b'=' && value == sign + 1;
        Some(Between { value, is_quoted, is_tight, is_sentence, is_option: next == end })
    }
}

/// Returns the range of the value.
fn value(bytes: &[u8], between: Between, kind: Kind, name: &str) -> (usize, usize) {
    let start = between.value;
    let rest = &bytes[start..];
    // The signature of an AWS request, and cookies, take the rest of the line.
    let is_long = rest.starts_with(b"AWS4-") || name.to_ascii_lowercase().ends_with("cookie");
    let ends = |byte: u8| match kind {
        Kind::Header if is_long => b"\"'\\\r\n{}<>`".contains(&byte),
        Kind::Header => b"\"'\\\r\n,;&{}[]<>`".contains(&byte),
        _ if between.is_quoted => b"\"'\\\r\n`".contains(&byte),
        // A password can contain any characters.
        Kind::Password => byte.is_ascii_whitespace() || b"\"'\\,;{}[]<>()`".contains(&byte),
        _ => byte.is_ascii_whitespace() || b"\"'\\,;&{}[]<>()`".contains(&byte),
    };
    let len = run(rest, |byte| !ends(byte));
    let len = rest[..len].windows(CUT.len()).position(|window| window == CUT).unwrap_or(len);
    // A dot at the end belongs to the sentence.
    let len = if len > 0 && rest[len - 1] == b'.' { len - 1 } else { len };
    (start, start + len)
}

/// The text after a name.
struct Found<'b> {
    value: &'b [u8],
    after: Option<u8>,
    between: Between,
}

impl Found<'_> {
    fn looks_like(&self, kind: Kind) -> bool {
        let (value, between) = (self.value, self.between);
        if is_told_already(value) || self.is_code() {
            return false;
        }
        let words = value.iter().any(u8::is_ascii_whitespace);
        match kind {
            Kind::Header => value.len() >= 8,
            Kind::Password if words => false,
            Kind::Password if between.is_quoted => value.len() >= 6,
            Kind::Password => {
                let is_plain = value.iter().all(u8::is_ascii_lowercase);
                let is_argument = matches!(self.after, Some(b',' | b')'));
                (value.len() >= 6 && has_digit(value) && !is_number_of_few(value))
                    || (value.len() >= 6 && value.iter().any(|byte| b"!@#$^*+?&%".contains(byte)))
                    || (is_plain && value.len() >= 16)
                    || (is_plain
                        && value.len() >= 6
                        && between.is_tight
                        && !is_argument
                        && !names_itself(value))
            }
            Kind::Key if words => false,
            Kind::Key if between.is_quoted => value.len() >= 8,
            Kind::Key => value.len() >= 8 && has_digit(value) || (value.len() >= 24 && is_random(value)),
            Kind::Weak => !words && is_random(value),
            Kind::Signature => {
                value.len() >= 32 && value.iter().all(|byte| is_hex(byte.to_ascii_lowercase()))
            }
            Kind::Machine => is_machine(value),
        }
    }

    /// Returns whether the value may be a secret that was cut for display.
    fn may_be_cut(&self, kind: Kind) -> bool {
        let is_told = is_told_already(self.value) || self.is_code();
        !is_told
            && !self.value.iter().any(u8::is_ascii_whitespace)
            && kind != Kind::Machine
            && has_digit(self.value)
    }

    /// Returns whether the value is an expression, a type name or a placeholder.
    fn is_code(&self) -> bool {
        // The last words are those that `wrap` passes to programs as keys.
        const WORDS: [&str; 26] = [
            "boolean",
            "changeme",
            "default",
            "disabled",
            "enabled",
            "hidden",
            "integer",
            "missing",
            "nullable",
            "number",
            "object",
            "optional",
            "password",
            "passwords",
            "private",
            "readonly",
            "required",
            "secret",
            "string",
            "textfield",
            "undefined",
            "unknown",
            "username",
            "brickbat",
            "sk-brickbat",
            "sk-ant-brickbat",
        ];
        const BEGINNINGS: [&str; 9] = [
            "process.env",
            "os.environ",
            "os.getenv",
            "import.meta",
            "env.",
            "env:",
            "self.",
            "this.",
            "config.",
        ];
        let Ok(text) = std::str::from_utf8(self.value) else { return false };
        let is_expression = !self.between.is_quoted && matches!(self.after, Some(b'(' | b'[' | b'<'));
        let is_mask = text.chars().all(|c| "*.xX-_•".contains(c));
        is_expression
            || is_mask
            || text.starts_with(['$', '{', '%', '<', '(', '['])
            || WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
            || BEGINNINGS.iter().any(|beginning| text.starts_with(beginning))
    }
}

fn is_told_already(value: &[u8]) -> bool {
    value.starts_with(b"[redacted") || value.starts_with(b"[REDACTED")
}

/// Returns whether the value is a number that counts something, not a code.
fn is_number_of_few(value: &[u8]) -> bool {
    value.len() < 6 && value.iter().all(u8::is_ascii_digit)
}

/// Returns whether the value names a variable, as in `password=user_password`.
fn names_itself(value: &[u8]) -> bool {
    let value = value.to_ascii_lowercase();
    [&b"pass"[..], b"pwd", b"secret"].iter().any(|own| value.windows(own.len()).any(|window| window == *own))
}

/// Returns whether the value is random letters and digits, and as long as a key.
fn is_random(value: &[u8]) -> bool {
    const MIN: usize = 16;
    let is_part = |byte: &u8| is_base64(*byte) || b".~:".contains(byte);
    value.len() >= MIN
        && value.iter().all(is_part)
        && has_digit(value)
        && value.iter().any(u8::is_ascii_alphabetic)
}

fn is_machine(value: &[u8]) -> bool {
    const OWN: [&str; 5] = [".local", ".lan", ".internal", ".corp", ".home"];
    let Ok(text) = std::str::from_utf8(value) else { return false };
    let is_name = text.len() >= 3 && text.bytes().all(|byte| is_token(byte) || byte == b'.');
    let is_chosen =
        text.contains('-') || text.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
    // A host with a public name is not private, and neither is an address of this machine.
    let is_own = !text.contains('.') || OWN.iter().any(|end| text.ends_with(end));
    is_name && is_chosen && is_own
}

fn has_digit(value: &[u8]) -> bool {
    value.iter().any(u8::is_ascii_digit)
}

/// Returns the kind of a name.
fn kind_of(name: &str) -> Option<Kind> {
    const PASSWORDS: [&str; 5] = ["password", "passwd", "passphrase", "passcode", "pwd"];
    const KEYS: [&str; 27] = [
        "accesskey",
        "accesskeyid",
        "accesstoken",
        "accountkey",
        "apikey",
        "apisecret",
        "apitoken",
        "appsecret",
        "authkey",
        "authtoken",
        "bottoken",
        "clientsecret",
        "connectionstring",
        "credential",
        "encryptionkey",
        "masterkey",
        "privatekey",
        "privatekeyid",
        "refreshtoken",
        "secret",
        "secretaccesskey",
        "secretkey",
        "securitytoken",
        "sessiontoken",
        "sharedaccesskey",
        "signingkey",
        "subscriptionkey",
    ];
    const HEADERS: [&str; 5] = ["authorization", "proxy-authorization", "cookie", "set-cookie", "api-key"];
    const WEAK: [&str; 5] = ["csrftoken", "idtoken", "jwt", "sig", "token"];
    const MACHINES: [&str; 5] = ["computername", "devicename", "hostname", "machinename", "nodename"];
    let lower = name.to_ascii_lowercase();
    let flat: String = lower.chars().filter(|c| !matches!(c, '-' | '_')).collect();
    let ends = |known: &[&str]| known.iter().any(|known| flat.ends_with(known));
    if HEADERS.contains(&lower.as_str()) || (lower.starts_with("x-") && is_header(&lower)) {
        return Some(Kind::Header);
    }
    // `pass` on its own counts plans.
    let is_short = lower.ends_with("_pass");
    if is_short || ends(&PASSWORDS) {
        return Some(Kind::Password);
    }
    if ends(&KEYS) {
        return Some(Kind::Key);
    }
    if matches!(flat.as_str(), "signature" | "xamzsignature") {
        return Some(Kind::Signature);
    }
    let is_variable = name.contains('_') && !name.bytes().any(|byte| byte.is_ascii_lowercase());
    if WEAK.contains(&flat.as_str()) || (is_variable && super::is_credential_variable(name)) {
        return Some(Kind::Weak);
    }
    MACHINES.contains(&flat.as_str()).then_some(Kind::Machine)
}

/// Returns whether the parts of a header name, in lower case, show that the header contains a
/// credential.
pub(super) fn is_header(lower: &str) -> bool {
    const PARTS: [&str; 14] = [
        "apikey",
        "auth",
        "authorization",
        "cookie",
        "credential",
        "credentials",
        "jwt",
        "key",
        "password",
        "secret",
        "sig",
        "signature",
        "token",
        "accesskey",
    ];
    // Their values are identifiers, not secrets.
    const HARMLESS: [&str; 5] = [
        "idempotency-key",
        "x-idempotency-key",
        "sec-websocket-key",
        "x-session-affinity-key",
        "www-authenticate",
    ];
    !HARMLESS.contains(&lower) && lower.split(['-', '_']).any(|part| PARTS.contains(&part))
}

/// Returns whether a query parameter contains a credential.
pub(super) fn is_query_name(name: &str) -> bool {
    const NAMES: [&str; 14] = [
        "auth",
        "authorization",
        "code",
        "credential",
        "jwt",
        "key",
        "pass",
        "passwd",
        "password",
        "pwd",
        "secret",
        "session",
        "token",
        "sas",
    ];
    let lower = name.to_ascii_lowercase();
    NAMES.contains(&lower.as_str())
        || lower.starts_with("sig")
        || lower.starts_with("x-amz-")
        || lower.starts_with("x-goog-")
        || lower
            .split(['-', '_', '.'])
            .any(|part| NAMES[..13].contains(&part) && part != "code" && part != "session")
        || kind_of(name).is_some_and(|kind| matches!(kind, Kind::Header | Kind::Password | Kind::Key))
}

/// Returns whether a field of a JSON object with this value is a secret.
pub(super) fn is_secret_field(name: &str, value: &str) -> bool {
    let between =
        Between { value: 0, is_quoted: true, is_tight: false, is_sentence: false, is_option: false };
    let found = Found { value: value.as_bytes(), after: None, between };
    match kind_of(name) {
        // Arguments of tools may have the names of headers. Headers quoted in SDK errors are recognized by
        // their full names.
        None | Some(Kind::Header) => false,
        Some(kind) => found.looks_like(kind),
    }
}
