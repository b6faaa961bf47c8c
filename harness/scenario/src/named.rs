//! Enums whose variants have names in files and reports.

/// Declares an enum whose variants each have a name: serde reads and writes the name, `name` returns it,
/// `sentence` returns the documentation of a variant, and `ALL` lists every variant in order.
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* pub enum $Type:ident { $($(#[doc = $doc:literal])* $variant:ident = $name:literal,)* }) => {
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash,
            serde::Serialize, serde::Deserialize, schemars::JsonSchema,
        )]
        $(#[$meta])*
        pub enum $Type {
            $($(#[doc = $doc])* #[serde(rename = $name)] $variant,)*
        }

        impl $Type {
            /// Every variant, in order.
            pub const ALL: [$Type; [$($name),*].len()] = [$($Type::$variant),*];

            /// The word that files and reports use.
            pub fn name(self) -> &'static str {
                match self {
                    $($Type::$variant => $name,)*
                }
            }

            /// The documentation of the variant.
            pub fn sentence(self) -> &'static str {
                match self {
                    $($Type::$variant => concat!("" $(, $doc)*).trim_start(),)*
                }
            }
        }
    };
}
