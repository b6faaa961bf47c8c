//! The models of Mistral.

/// Returns whether a model belongs to a Mistral family: mistral, ministral, magistral, codestral,
/// devstral, mixtral, pixtral, voxtral. A client of this dialect also talks to other models, and their ids
/// have other formats.
pub(crate) fn is_mistral_model(model: &str) -> bool {
    ["stral", "xtral"].iter().any(|end| model.contains(end))
}
