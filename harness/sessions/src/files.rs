//! The files of a session, as bytes.

/// The session file and its companions: the files next to it in which the product keeps parts of the session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Files {
    /// The session file first, then its companions, ordered by name.
    pub files: Vec<File>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct File {
    /// The path relative to the folder of the first file, with `/` between its parts, such as
    /// `7c1f/tool-results/toolu_1.txt`. Readers identify companions by this path.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl Files {
    /// A session in one file.
    pub fn one(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Files {
        Files { files: vec![File { name: name.into(), bytes: bytes.into() }] }
    }

    /// The bytes of the first file; empty if there is no file.
    pub fn main(&self) -> &[u8] {
        self.files.first().map(|file| file.bytes.as_slice()).unwrap_or_default()
    }

    /// The name of the first file.
    pub fn name(&self) -> &str {
        self.files.first().map(|file| file.name.as_str()).unwrap_or_default()
    }

    /// The first companion with this name ending, with its index.
    pub fn ending_in(&self, end: &str) -> Option<(usize, &File)> {
        self.files.iter().enumerate().find(|(_, file)| file.name.ends_with(end))
    }
}
