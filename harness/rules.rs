//! The strict provider's rules.
