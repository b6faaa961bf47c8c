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

/// Words that titles have beside such terms, which say little alone.
const WORDS: [(&str, &str); 71] = [
    ("历史", "history"),
    ("履歴", "history"),
    ("기록", "history"),
    ("会话", "session"),
    ("会話", "session"),
    ("セッション", "session"),
    ("세션", "session"),
    ("对话", "conversation"),
    ("대화", "conversation"),
    ("报错", "error"),
    ("エラー", "error"),
    ("오류", "error"),
    ("切换", "switch"),
    ("切り替え", "switch"),
    ("전환", "switch"),
    ("供应商", "provider"),
    ("模型", "model"),
    ("モデル", "model"),
    ("모델", "model"),
    ("压缩", "compression"),
    ("圧縮", "compression"),
    ("압축", "compression"),
    ("配对", "pair"),
    ("ペア", "pair"),
    ("拆散", "split"),
    ("不匹配", "mismatch"),
    ("不一致", "mismatch"),
    ("不整合", "mismatch"),
    ("불일치", "mismatch"),
    ("顺序", "order"),
    ("順序", "order"),
    ("순서", "order"),
    ("紧跟", "directly follow"),
    ("中断", "interrupted"),
    ("중단", "interrupted"),
    ("并行", "parallel"),
    ("並列", "parallel"),
    ("병렬", "parallel"),
    ("工具", "tool"),
    ("ツール", "tool"),
    ("도구", "tool"),
    ("工具参数", "arguments"),
    ("审批", "approval"),
    ("承認", "approval"),
    ("승인", "approval"),
    ("待审批", "pending"),
    ("承認待ち", "pending"),
    ("多模态", "multimodal"),
    ("マルチモーダル", "multimodal"),
    ("멀티모달", "multimodal"),
    ("不支持图片", "text-only"),
    ("不支持多模态", "text-only"),
    ("纯文本模型", "text-only"),
    ("画像非対応", "text-only"),
    ("回传", "passed back"),
    ("传回", "passed back"),
    ("带回", "passed back"),
    ("未闭合", "unfinished"),
    ("未完成", "unfinished"),
    ("悬空", "dangling"),
    ("连续", "consecutive"),
    ("連続", "consecutive"),
    ("연속", "consecutive"),
    ("截断", "truncated"),
    ("数量限制", "limit"),
    ("未被过滤", "not filtered"),
    ("无法后续对话", "session cannot continue"),
    ("无法继续", "cannot continue"),
    ("手动中断", "interrupted"),
    ("被拒", "rejected"),
    ("致命故障", "brick"),
];

/// The English words for the terms in a text. Empty for a text in Latin letters.
pub(super) fn terms(text: &str) -> String {
    found_in(text, &TERMS)
}

/// The English words for the terms and the other words in a text. Empty for a text in Latin letters.
pub(super) fn words(text: &str) -> String {
    match terms(text).as_str() {
        "" => String::new(),
        terms => format!("{terms} {}", found_in(text, &WORDS)),
    }
}

fn found_in(text: &str, known: &[(&str, &'static str)]) -> String {
    let has_letter =
        |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}');
    if !text.contains(has_letter) {
        return String::new();
    }
    let found: Vec<&str> =
        known.iter().filter(|(term, _)| text.contains(term)).map(|(_, words)| *words).collect();
    // Without a term, the words in Latin letters remain.
    if found.is_empty() { "-".to_owned() } else { found.join(" ") }
}
