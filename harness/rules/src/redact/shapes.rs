//! Keys of known formats: a unique prefix, followed by enough characters of a key.
//!
//! The formats come from the providers' own secret scanners
//! (<https://docs.github.com/en/code-security/secret-scanning/introduction/supported-secret-scanning-patterns>).
//! A key that was cut with `…` for display is recognized by its prefix.

use super::bytes::{
    CUT, is_after_escape, is_alphanumeric, is_base64, is_hex, is_token, is_upper, run, starts_a_word,
};
use super::{named, private};

/// A key with a known prefix.
struct Key {
    beginning: &'static str,
    /// Minimum number of bytes after the prefix.
    min: usize,
    is_part: fn(u8) -> bool,
    /// True if one of them must be a digit, because words can have the same prefix.
    needs_digit: bool,
}

const fn key(beginning: &'static str, min: usize, is_part: fn(u8) -> bool) -> Key {
    Key { beginning, min, is_part, needs_digit: false }
}

/// A key with a prefix that words can have too.
const fn digits(beginning: &'static str, min: usize, is_part: fn(u8) -> bool) -> Key {
    Key { beginning, min, is_part, needs_digit: true }
}

const KEYS: [Key; 95] = [
    // Anthropic.
    key("sk-ant-", 16, is_token),
    // OpenAI, and the many providers that copied its format.
    digits("sk-", 20, is_token),
    // Google: API keys of both kinds, OAuth access and refresh tokens, client secrets.
    key("AIza", 30, is_token),
    digits("AQ.", 30, is_token),
    key("ya29.", 20, is_token),
    key("1//0", 30, is_token),
    key("GOCSPX-", 20, is_token),
    // AWS: access keys, long-lived and temporary.
    key("AKIA", 16, is_upper),
    key("ASIA", 16, is_upper),
    // Bedrock: API keys, long-lived and short-lived, both of them base64
    // (<https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys-generate.html>).
    key("ABSK", 40, is_base64),
    key("bedrock-api-key-", 20, is_base64),
    // Other clouds: Alibaba, Tencent, DigitalOcean, Databricks, Heroku, Fly, Netlify.
    digits("LTAI", 12, is_alphanumeric),
    digits("AKID", 28, is_alphanumeric),
    key("dop_v1_", 32, is_hex),
    key("doo_v1_", 32, is_hex),
    key("dor_v1_", 32, is_hex),
    key("dapi", 32, is_hex),
    key("HRKU-", 20, is_token),
    key("fo1_", 30, is_token),
    key("fm2_", 40, is_base64),
    key("nfp_", 30, is_alphanumeric),
    // GitHub and GitLab.
    key("ghp_", 30, is_alphanumeric),
    key("gho_", 30, is_alphanumeric),
    key("ghu_", 30, is_alphanumeric),
    key("ghs_", 30, is_alphanumeric),
    key("ghr_", 30, is_alphanumeric),
    key("github_pat_", 22, is_token),
    key("glpat-", 20, is_token),
    key("gldt-", 20, is_token),
    key("glrt-", 20, is_token),
    key("glptt-", 20, is_token),
    key("glcbt-", 20, is_token),
    // Slack.
    key("xoxa-", 10, is_token),
    key("xoxb-", 10, is_token),
    key("xoxc-", 10, is_token),
    key("xoxd-", 10, is_token),
    key("xoxe-", 10, is_token),
    key("xoxp-", 10, is_token),
    key("xoxr-", 10, is_token),
    key("xoxs-", 10, is_token),
    key("xapp-", 10, is_token),
    // Registries: npm, PyPI, crates.io, RubyGems, Docker.
    key("npm_", 36, is_alphanumeric),
    key("pypi-", 40, is_token),
    digits("cio", 32, is_alphanumeric),
    key("rubygems_", 32, is_hex),
    key("dckr_pat_", 20, is_token),
    // Model providers: Hugging Face, xAI, Groq, Cerebras, Fireworks, NVIDIA, Perplexity, Replicate, Together, Voyage.
    key("hf_", 30, is_alphanumeric),
    key("xai-", 40, is_token),
    key("gsk_", 40, is_alphanumeric),
    digits("csk-", 30, is_token),
    digits("fw_", 20, is_alphanumeric),
    key("nvapi-", 30, is_token),
    key("pplx-", 30, is_alphanumeric),
    digits("r8_", 30, is_alphanumeric),
    digits("tgp_v1_", 30, is_token),
    digits("pa-", 40, is_token),
    // Services used by agents: LangSmith, Tavily, E2B, Firecrawl, Pinecone, Brave, ElevenLabs, Weights &
    // Biases.
    key("lsv2_pt_", 20, is_token),
    key("lsv2_sk_", 20, is_token),
    digits("tvly-", 20, is_token),
    key("e2b_", 32, is_hex),
    key("fc-", 32, is_hex),
    key("pcsk_", 30, is_token),
    digits("BSA", 27, is_token),
    key("sk_", 40, is_hex),
    key("wandb_v1_", 30, is_token),
    // Stripe, Twilio, SendGrid, Mailgun, Shopify.
    key("sk_live_", 16, is_alphanumeric),
    key("sk_test_", 16, is_alphanumeric),
    key("rk_live_", 16, is_alphanumeric),
    key("rk_test_", 16, is_alphanumeric),
    key("whsec_", 20, is_base64),
    key("AC", 32, is_hex),
    key("SK", 32, is_hex),
    digits("SG.", 20, is_token_or_dot),
    key("key-", 32, is_hex),
    key("shpat_", 32, is_hex),
    key("shpss_", 32, is_hex),
    // Atlassian, Linear, Notion, Figma, Airtable, Postman, Sentry, New Relic, Grafana, Supabase, PlanetScale.
    key("ATATT3", 30, is_base64),
    key("ATCTT3", 30, is_base64),
    key("lin_api_", 30, is_alphanumeric),
    digits("secret_", 40, is_alphanumeric),
    digits("ntn_", 40, is_alphanumeric),
    key("figd_", 30, is_token),
    key("PMAK-", 30, is_token),
    key("sntrys_", 30, is_base64),
    key("sntryu_", 30, is_hex),
    key("NRAK-", 27, is_upper),
    key("glsa_", 30, is_token),
    key("sbp_", 40, is_hex),
    key("sb_secret_", 20, is_token),
    key("pscale_tkn_", 30, is_token),
    key("pscale_pw_", 30, is_token),
    // Vault, Doppler and age. OpenRouter's keys have OpenAI's format.
    key("hvs.", 24, is_token),
    key("hvb.", 24, is_token),
    digits("dp.pt.", 30, is_alphanumeric),
    key("AGE-SECRET-KEY-1", 40, is_upper),
];

/// For each byte, true if a key may begin with it.
const STARTS: [bool; 256] = {
    let mut starts = [false; 256];
    let mut at = 0;
    while at < KEYS.len() {
        starts[KEYS[at].beginning.as_bytes()[0] as usize] = true;
        at += 1;
    }
    starts
};

/// A prefix of this length identifies a key even if the rest was cut for display.
const MIN_BEGINNING: usize = 4;

/// Returns the range to remove for a match at a position. It may begin later, after a name, or earlier, if
/// a mark inside the key identifies it, but never before `floor`.
pub(super) fn at(text: &str, floor: usize, at: usize) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    match bytes[at] {
        b':' => return in_url(bytes, at).or_else(|| telegram(bytes, floor, at)),
        b'@' => return private::address(text, floor, at, 1),
        b'%' if bytes[at..].starts_with(b"%40") => return private::address(text, floor, at, 3),
        b'~' => return entra_secret(bytes, floor, at),
        b'.' => return private::local_name(bytes, floor, at),
        b'+' => return azure_key(bytes, floor, at),
        b'/' => return private::home(bytes, at).or_else(|| webhook(bytes, at)),
        b'-' if !bytes[at..].starts_with(b"--") => return None,
        byte if !is_alphanumeric(byte) && byte != b'-' && byte != b'_' => return None,
        _ => {}
    }
    if !starts_a_word(bytes, at) {
        return if bytes[at] == b'J' { azure_key(bytes, floor, at) } else { None };
    }
    let rest = &bytes[at..];
    known_key(rest)
        .or_else(|| json_web_token(rest))
        .or_else(|| private_key(rest))
        .or_else(|| discord_token(rest))
        .or_else(|| aws_secret(bytes, at))
        .map(|len| (at, at + len))
        .or_else(|| named::announced(bytes, at))
        .or_else(|| private::windows_home(bytes, at))
        .or_else(|| private::machine(rest).map(|len| (at, at + len)))
}

fn known_key(rest: &[u8]) -> Option<usize> {
    if !STARTS[usize::from(rest[0])] {
        return None;
    }
    KEYS.iter().find_map(|key| {
        let tail = rest.strip_prefix(key.beginning.as_bytes())?;
        let len = run(tail, key.is_part);
        // A dot at the end belongs to the sentence.
        let len = len - tail[..len].iter().rev().take_while(|byte| **byte == b'.').count();
        let is_cut = len > 0 && key.beginning.len() >= MIN_BEGINNING && tail[len..].starts_with(CUT);
        let is_whole = len >= key.min && (!key.needs_digit || tail[..len].iter().any(u8::is_ascii_digit));
        (is_whole || (is_cut && !key.needs_digit)).then(|| key.beginning.len() + len)
    })
}

/// Matches three parts of base64; the first encodes a text that begins with `{"`.
fn json_web_token(rest: &[u8]) -> Option<usize> {
    const MIN_PART: usize = 10;
    if !rest.starts_with(b"eyJ") {
        return None;
    }
    let mut len = 0;
    for part in 0..3 {
        let n = run(&rest[len..], is_token);
        if (part > 0 || n >= MIN_PART) && rest[len + n..].starts_with(CUT) {
            return Some(len + n);
        }
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

/// Matches a private key in a file format, up to its last line. If the key is cut, matches the
/// remainder.
fn private_key(rest: &[u8]) -> Option<usize> {
    const MAX_TITLE: usize = 64;
    // An RSA key of 16,384 bits takes 12.7 kB.
    const MAX_KEY: usize = 16 << 10;
    const BEGIN: &[u8] = b"-----BEGIN ";
    let words = rest.strip_prefix(BEGIN)?;
    let words = run(&words[..words.len().min(MAX_TITLE)], |byte| is_upper(byte) || byte == b' ');
    let title =
        BEGIN.len() + find(&rest[BEGIN.len()..BEGIN.len() + words], b"PRIVATE KEY")? + b"PRIVATE KEY".len();
    // The characters of its lines, including their form in a JSON string. A quote ends them.
    let is_part = |byte: u8| is_base64(byte) || byte.is_ascii_whitespace() || b"-\\:,.".contains(&byte);
    let rest = &rest[..rest.len().min(MAX_KEY)];
    let all = title + run(&rest[title..], is_part);
    // Half an escape belongs to the text after the key.
    let all = all - rest[title..all].iter().rev().take_while(|byte| **byte == b'\\').count();
    let end = find(&rest[title..all], b"-----END ").map(|end| title + end + b"-----END ".len());
    let Some(end) = end else { return Some(all) };
    let last = &rest[end..all.min(end + MAX_TITLE)];
    Some(find(last, b"-----").map_or(all, |dashes| end + dashes + 5))
}

/// Matches the token of a Discord bot: the number of its account, a time, and a signature
/// (<https://discord.com/developers/docs/reference#authentication>).
fn discord_token(rest: &[u8]) -> Option<usize> {
    const PARTS: [std::ops::RangeInclusive<usize>; 3] = [23..=28, 6..=7, 27..=45];
    if !b"MNO".contains(&rest[0]) {
        return None;
    }
    let mut len = 0;
    for (n, part) in PARTS.into_iter().enumerate() {
        if n > 0 {
            (rest.get(len) == Some(&b'.')).then_some(())?;
            len += 1;
        }
        let found = run(&rest[len..], is_token);
        part.contains(&found).then_some(())?;
        len += found;
    }
    Some(len)
}

/// Matches an AWS secret key without a name: 40 base64 characters that change their class as often as
/// random ones do. Paths, hexadecimal hashes and words change it less often.
fn aws_secret(bytes: &[u8], at: usize) -> Option<usize> {
    const LEN: usize = 40;
    const MIN_CHANGES: usize = 12;
    let is_part = |byte: u8| is_alphanumeric(byte) || byte == b'/' || byte == b'+';
    if at > 0 && b"/+%".contains(&bytes[at - 1]) && !is_after_escape(bytes, at) {
        return None;
    }
    let rest = &bytes[at..];
    let is_whole = run(&rest[..rest.len().min(LEN + 1)], is_part) == LEN
        && !rest.get(LEN).is_some_and(|byte| is_token(*byte) || *byte == b'=');
    let kind = |byte: u8| (byte.is_ascii_lowercase(), byte.is_ascii_uppercase(), byte.is_ascii_digit());
    let key = rest.get(..LEN).filter(|_| is_whole)?;
    let has = |is: fn(&u8) -> bool| key.iter().any(is);
    let n_changes = key.windows(2).filter(|pair| kind(pair[0]) != kind(pair[1])).count();
    let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
    (is_mixed && n_changes >= MIN_CHANGES).then_some(LEN)
}

/// Matches a key of an Azure AI service: 84 characters, with a mark in the middle
/// (<https://learn.microsoft.com/purview/sit-defn-azure-cognitive-services-key>). In keys of storage and
/// other services, which have 76 or 40 characters of base64, the mark is near the end.
fn azure_key(bytes: &[u8], floor: usize, at: usize) -> Option<(usize, usize)> {
    const MARKS: [&[u8]; 3] = [b"JQQJ99", b"+AStR", b"+ASt"];
    const MIN_BEFORE: usize = 32;
    const MIN_LEN: usize = 44;
    let mark = MARKS.iter().find(|mark| bytes[at..].starts_with(mark))?;
    let is_part = |byte: &u8| is_alphanumeric(*byte) || b"+/".contains(byte);
    let n_before = bytes[floor..at].iter().rev().take_while(|byte| is_part(byte)).count();
    let mut start = at - n_before;
    if start > 0 && is_after_escape(bytes, start + 1) {
        start += 1;
    }
    let end = at + mark.len() + run(&bytes[at + mark.len()..], is_base64);
    (n_before >= MIN_BEFORE && end - start >= MIN_LEN).then_some((start, end))
}

/// Matches a client secret of Entra ID: three characters, a digit, `Q~` and 31 to 34 more.
fn entra_secret(bytes: &[u8], floor: usize, tilde: usize) -> Option<(usize, usize)> {
    const BEFORE: usize = 5;
    const MIN_AFTER: usize = 31;
    let start = tilde.checked_sub(BEFORE).filter(|start| *start >= floor)?;
    let is_part = |byte: u8| is_token(byte) || b"._~".contains(&byte);
    let before = &bytes[start..tilde];
    let is_one =
        before[4] == b'Q' && before[3].is_ascii_digit() && before[..3].iter().all(|byte| is_part(*byte));
    let n_after = run(&bytes[tilde + 1..], is_part);
    // A dot at the end belongs to the sentence.
    let n_after = n_after - usize::from(n_after > 0 && bytes[tilde + n_after] == b'.');
    (is_one && n_after >= MIN_AFTER).then_some((start, tilde + 1 + n_after))
}

/// Matches the token of a Telegram bot, starting at its colon: a number, and 35 characters that begin with
/// `AA`.
fn telegram(bytes: &[u8], floor: usize, colon: usize) -> Option<(usize, usize)> {
    const DIGITS: std::ops::RangeInclusive<usize> = 3..=12;
    const MIN_AFTER: usize = 30;
    if !bytes[colon..].starts_with(b":AA") {
        return None;
    }
    let n_before = bytes[floor..colon].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let n_after = run(&bytes[colon + 1..], is_token);
    let is_one = DIGITS.contains(&n_before) && n_after >= MIN_AFTER;
    is_one.then_some((colon - n_before, colon + 1 + n_after))
}

/// Finds the secret part of a webhook URL. Anyone with the URL can post to it.
fn webhook(bytes: &[u8], slash: usize) -> Option<(usize, usize)> {
    const HOOKS: [&[u8]; 3] =
        [b"/hooks.slack.com/services/", b"/hooks.slack.com/workflows/", b"/api/webhooks/"];
    const MIN: usize = 20;
    let hook = HOOKS.iter().find(|hook| bytes[slash..].starts_with(hook))?;
    let start = slash + hook.len();
    let len = run(&bytes[start..], |byte| is_token(byte) || byte == b'/');
    (len >= MIN).then_some((start, start + len))
}

/// Finds the user and the password in a URL, starting at their colon.
fn in_url(bytes: &[u8], colon: usize) -> Option<(usize, usize)> {
    const MAX_LEN: usize = 512;
    let start = colon + 3;
    if !bytes[colon..].starts_with(b"://") {
        return None;
    }
    let rest = &bytes[start..bytes.len().min(start + MAX_LEN)];
    let len = run(rest, |byte| byte.is_ascii_graphic() && !b"/@\"'<>\\?#`".contains(&byte));
    let password = rest[..len].iter().position(|byte| *byte == b':');
    let is_cut =
        |colon: usize| rest[len..].starts_with(CUT) && !rest[colon + 1..len].iter().all(u8::is_ascii_digit);
    let ends = rest.get(len) == Some(&b'@');
    password.filter(|colon| ends || is_cut(*colon)).map(|_| (start, start + len))
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

fn is_token_or_dot(byte: u8) -> bool {
    is_token(byte) || byte == b'.'
}
