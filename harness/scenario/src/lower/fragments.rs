//! How texts and arguments are cut for sending.

/// Cuts a text into the fragments in which it is sent.
pub fn fragments(text: &str) -> Vec<String> {
    cut(text, text.chars().count().clamp(1, N_FRAGMENTS))
}

/// Cuts a text into `n_pieces` pieces with nearly the same number of characters.
pub fn cut(text: &str, n_pieces: usize) -> Vec<String> {
    let n_chars = text.chars().count();
    let mut chars = text.chars();
    let length = |piece: usize| n_chars * (piece + 1) / n_pieces - n_chars * piece / n_pieces;
    (0..n_pieces).map(|piece| chars.by_ref().take(length(piece)).collect()).collect()
}

/// The number of fragments in which a text is sent if it has at least as many characters.
const N_FRAGMENTS: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_differ_by_one_character_at_most_and_lose_nothing() {
        assert_eq!(cut("abcdefg", 3), ["ab", "cd", "efg"]);
        assert_eq!(cut("ééé", 2), ["é", "éé"]);
        assert_eq!(cut("a", 3), ["", "", "a"]);
        assert_eq!(fragments("x"), ["x"]);
    }
}
