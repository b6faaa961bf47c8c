//! The files that a session is made of, as bytes.

/// A file, and what lies next to it as far as the product keeps parts of a session there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Files {
    /// The file that was asked for first; then its companions, in the order of their names.
    pub files: Vec<File>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct File {
    /// Its path relative to the folder of the first file, with `/` between its parts, such as
    /// `7c1f/tool-results/toolu_1.txt`. Readers know companions by it.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl Files {
    /// A session in one file.
    pub fn one(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Files {
        Files { files: vec![File { name: name.into(), bytes: bytes.into() }] }
    }

    /// The bytes of the first file; nothing if there is none.
    pub fn main(&self) -> &[u8] {
        self.files.first().map(|file| file.bytes.as_slice()).unwrap_or_default()
    }

    /// The name of the first file.
    pub fn name(&self) -> &str {
        self.files.first().map(|file| file.name.as_str()).unwrap_or_default()
    }

    /// The companion whose name ends so, and its index.
    pub fn ending_in(&self, end: &str) -> Option<(usize, &File)> {
        self.files.iter().enumerate().find(|(_, file)| file.name.ends_with(end))
    }
}
