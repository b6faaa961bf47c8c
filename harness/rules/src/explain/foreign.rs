//! Technical terms in the languages in which people write titles, besides English.

/// Terms of the field in Chinese, Japanese and Korean, each with its English words.
const TERMS: [(&str, &str); 50] = [
    ("思考签名", "thought_signature thought signature"),
    ("思维签名", "thought_signature thought signature"),
    ("思考署名", "thought_signature thought signature"),
    ("签名", "signature"),
    ("署名", "signature"),
    ("서명", "signature"),
    ("丢失", "missing"),
    ("缺失", "missing"),
    ("缺少", "missing"),
    ("欠落", "missing"),
    ("누락", "missing"),
    ("工具调用", "tool_calls call"),
    ("函数调用", "function call"),
    ("ツール呼び出し", "tool_calls call"),
    ("関数呼び出し", "function call"),
    ("도구 호출", "tool_calls call"),
    ("工具结果", "tool_result result"),
    ("工具返回", "tool_result result"),
    ("ツール結果", "tool_result result"),
    ("도구 결과", "tool_result result"),
    ("思考内容", "reasoning_content thinking"),
    ("推理内容", "reasoning_content reasoning"),
    ("思考块", "thinking block"),
    ("思考ブロック", "thinking block"),
    ("预填充", "prefill assistant"),
    ("预填", "prefill assistant"),
    ("プリフィル", "prefill assistant"),
    ("重复", "duplicate twice"),
    ("重複", "duplicate twice"),
    ("중복", "duplicate twice"),
    ("空内容", "empty content"),
    ("内容为空", "empty content"),
    ("空文字", "empty text"),
    ("图片", "image"),
    ("画像", "image"),
    ("이미지", "image"),
    ("角色", "role"),
    ("ロール", "role"),
    ("交替", "alternate roles"),
    ("孤立", "orphan call result"),
    ("系统消息", "system role"),
    ("参数", "arguments"),
    ("引数", "arguments"),
    // Words that are not translated.
    ("prefill", "prefill assistant"),
    ("thought_signature", "thought_signature thought signature"),
    ("reasoning_content", "reasoning_content reasoning"),
    ("tool_calls", "tool_calls call"),
    ("tool_call_id", "tool_call_id result"),
    ("tool_use", "tool_use call"),
    ("tool_result", "tool_result result"),
];

/// The English words for the terms in a text. Empty for a text in Latin letters.
pub(super) fn terms(text: &str) -> String {
    let has_letter =
        |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}');
    if !text.contains(has_letter) {
        return String::new();
    }
    let found: Vec<&str> =
        TERMS.iter().filter(|(term, _)| text.contains(term)).map(|(_, words)| *words).collect();
    // Without a term, the words in Latin letters remain.
    if found.is_empty() { "-".to_owned() } else { found.join(" ") }
}
