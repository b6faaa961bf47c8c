//! Keys of known shapes: a beginning that nothing else has, and enough of what a key is made of.
//!
//! Shapes are what the providers' own secret scanners look for
//! (<https://docs.github.com/en/code-security/secret-scanning/introduction/supported-secret-scanning-patterns>).

/// The bytes with which a shape may start, in one table so that a text is gone through once.
pub(super) const FIRST_BYTES: &[u8] = b"sASagxXeyGhnBb:pcCP-";

/// A key that begins in a certain way.
struct Key {
    beginning: &'static str,
    /// Bytes that follow, at the least.
    min: usize,
    is_part: fn(u8) -> bool,
    /// Whether a digit must be among them, where the beginning alone could be a word's.
    needs_digit: bool,
}

const fn key(beginning: &'static str, min: usize, is_part: fn(u8) -> bool) -> Key {
    Key { beginning, min, is_part, needs_digit: false }
}

const KEYS: [Key; 29] = [
    // Anthropic.
    key("sk-ant-", 16, is_token),
    // OpenAI, and the many that copy it.
    Key { beginning: "sk-", min: 20, is_part: is_token, needs_digit: true },
    // Google: API keys, OAuth access tokens, client secrets.
    key("AIza", 30, is_token),
    key("ya29.", 20, is_token),
    key("GOCSPX-", 20, is_token),
    // AWS: access keys, long-lived and temporary.
    key("AKIA", 16, is_upper),
    key("ASIA", 16, is_upper),
    // Bedrock: API keys, long-lived and short-lived, both of them base64
    // (<https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys-generate.html>).
    key("ABSK", 40, is_base64),
    key("bedrock-api-key-", 20, is_base64),
    // GitHub and GitLab.
    key("ghp_", 30, is_alphanumeric),
    key("gho_", 30, is_alphanumeric),
    key("ghu_", 30, is_alphanumeric),
    key("ghs_", 30, is_alphanumeric),
    key("ghr_", 30, is_alphanumeric),
    key("github_pat_", 22, is_token),
    key("glpat-", 20, is_token),
    // Slack.
    key("xoxa-", 10, is_token),
    key("xoxb-", 10, is_token),
    key("xoxe-", 10, is_token),
    key("xoxp-", 10, is_token),
    key("xoxr-", 10, is_token),
    key("xoxs-", 10, is_token),
    key("xapp-", 10, is_token),
    // Hugging Face, npm, PyPI, Stripe, xAI, Groq.
    key("hf_", 30, is_alphanumeric),
    key("npm_", 36, is_alphanumeric),
    key("pypi-", 40, is_token),
    key("sk_live_", 20, is_alphanumeric),
    key("xai-", 40, is_token),
    key("gsk_", 40, is_alphanumeric),
];

/// The secret that begins at a place, or, where something announces it, a little after: from where to where.
pub(super) fn at(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    if bytes[at] == b':' {
        return in_url(bytes, at);
    }
    let starts_a_word = at == 0 || !is_token(bytes[at - 1]) || is_after_escape(bytes, at);
    if !starts_a_word {
        return None;
    }
    let rest = &bytes[at..];
    let key = KEYS.iter().find_map(|key| {
        let tail = rest.strip_prefix(key.beginning.as_bytes())?;
        let len = run(tail, key.is_part);
        let enough = len >= key.min && (!key.needs_digit || tail[..len].iter().any(u8::is_ascii_digit));
        enough.then(|| (at, at + key.beginning.len() + len))
    });
    key.or_else(|| json_web_token(rest).map(|len| (at, at + len)))
        .or_else(|| private_key(rest).map(|len| (at, at + len)))
        .or_else(|| announced(bytes, at))
}

/// Whether what stands before a place is not a part of a word but an escape, as `\n` is in a JSON string and `%20` in
/// an address.
pub(super) fn is_after_escape(bytes: &[u8], at: usize) -> bool {
    let before = |n: usize| at.checked_sub(n).and_then(|at| bytes.get(at)).copied();
    let is_hex = |n: usize| before(n).is_some_and(|byte| byte.is_ascii_hexdigit());
    let letter = before(1).is_some_and(|byte| b"nrtbf".contains(&byte)) && before(2) == Some(b'\\');
    let percent = is_hex(1) && is_hex(2) && before(3) == Some(b'%');
    let unicode = (1..=4).all(is_hex) && before(5) == Some(b'u') && before(6) == Some(b'\\');
    letter || percent || unicode
}

/// Three parts of base64, the first of which encodes `{"`.
fn json_web_token(rest: &[u8]) -> Option<usize> {
    const MIN_PART: usize = 10;
    if !rest.starts_with(b"eyJ") {
        return None;
    }
    let mut len = 0;
    for part in 0..3 {
        let n = run(&rest[len..], is_token);
        if n < MIN_PART {
            return None;
        }
        len += n;
        if part < 2 {
            (rest.get(len) == Some(&b'.')).then_some(())?;
            len += 1;
        }
    }
    Some(len)
}

/// A private key in a file's format, to its last line.
fn private_key(rest: &[u8]) -> Option<usize> {
    const MAX_TITLE: usize = 64;
    // An RSA key of 16,384 bits has 12.7 kB.
    const MAX_KEY: usize = 16 << 10;
    if !rest.starts_with(b"-----BEGIN ") {
        return None;
    }
    let title = &rest[..rest.len().min(MAX_TITLE)];
    find(title, b"PRIVATE KEY")?;
    let rest = &rest[..rest.len().min(MAX_KEY)];
    let end = find(rest, b"-----END ")?;
    let title = &rest[end + 9..rest.len().min(end + 9 + MAX_TITLE)];
    Some(end + 9 + find(title, b"-----")? + 5)
}

/// A secret that a word announces: `Bearer …`, or a header in a dump, such as `x-api-key: …` or `"authorization":"…"`.
fn announced(bytes: &[u8], at: usize) -> Option<(usize, usize)> {
    const MIN_TOKEN: usize = 8;
    const NAMES: [&str; 12] = [
        "access_token",
        "api-key",
        "api_key",
        "apikey",
        "authorization",
        "client_secret",
        "cookie",
        "proxy-authorization",
        "set-cookie",
        "x-api-key",
        "x-auth-token",
        "x-goog-api-key",
    ];
    let rest = &bytes[at..];
    let starts_with =
        |word: &str| rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()));
    if starts_with("bearer ") || starts_with("bearer%20") {
        let start = at + if rest[6] == b' ' { 7 } else { 9 };
        let len = run(&bytes[start..], is_bearer);
        let token = &bytes[start..start + len];
        let is_secret = len >= 20 || (len >= MIN_TOKEN && token.iter().any(u8::is_ascii_digit));
        return is_secret.then_some((start, start + len));
    }
    let name = NAMES.into_iter().find(|name| starts_with(name))?;
    let after = at + name.len();
    // `"x-api-key": "…"`, `x-api-key: …`, `x-api-key=…`, and the same escaped inside a JSON string.
    let is_quote = |byte: u8| b"\"'\\".contains(&byte);
    let colon = after + run(&bytes[after..], |byte| is_quote(byte) || byte == b' ');
    if !matches!(bytes.get(colon), Some(b':' | b'=')) {
        return None;
    }
    let start = colon + 1 + run(&bytes[colon + 1..], |byte| is_quote(byte) || byte == b' ');
    let end = start + run(&bytes[start..], |byte| !b"\"'\\\r\n,;&{}[]<>`".contains(&byte));
    let is_told_already = bytes[start..end].starts_with(b"[redacted");
    (end - start >= MIN_TOKEN && !is_told_already).then_some((start, end))
}

/// The user and the password in an address, at its colon.
fn in_url(bytes: &[u8], colon: usize) -> Option<(usize, usize)> {
    const MAX_LEN: usize = 512;
    let start = colon + 3;
    if !bytes[colon..].starts_with(b"://") {
        return None;
    }
    let rest = &bytes[start..bytes.len().min(start + MAX_LEN)];
    let len = run(rest, |byte| byte.is_ascii_graphic() && !b"/@\"'<>\\?#`".contains(&byte));
    let has_password = rest[..len].contains(&b':');
    (rest.get(len) == Some(&b'@') && has_password).then_some((start, start + len))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn run(bytes: &[u8], is_part: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|byte| !is_part(*byte)).unwrap_or(bytes.len())
}

fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_upper(byte: u8) -> bool {
    byte.is_ascii_uppercase() || byte.is_ascii_digit()
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=-_".contains(&byte)
}

fn is_bearer(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~+/=".contains(&byte)
}
