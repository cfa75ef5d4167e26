// SPDX-License-Identifier: MIT OR Apache-2.0
//! Why a header gives no controller.

/// Why a header gives no controller. The message names the header, where it can be the line, and the fix.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say what the fields are")]
pub enum OwnError {
    /// There is no such file.
    #[error("`{path}` is not there; `tandem new {name}` writes a controller's header to begin with")]
    NotThere { path: String, name: String },
    /// It is a folder or a device, is too large, or may not be read.
    #[error("`{path}` cannot be read: {cause}")]
    Unreadable { path: String, cause: String },
    /// The file's name cannot be a controller's.
    #[error(
        "`{path}`: a header is called as its controller, which has 1 to 15 letters, digits or `_` and begins with none of the digits; call \
         it mine.h, and its functions mine_init and so on"
    )]
    BadName { path: String },
    /// Tandem has a header of that name, which would be compiled in its place.
    #[error("`{path}`: Tandem has a header {name}.h of its own; give yours another name, and its functions with it")]
    NameIsOurs { path: String, name: String },
    /// Two headers have the same name, which results could not tell apart.
    #[error("`{first}` and `{second}` have the same name: give one another, and its functions with it")]
    SameName { first: String, second: String },
    /// There is no C compiler.
    #[error(
        "`{path}` needs a C compiler, and there is no `{compiler}`: install gcc or clang (Debian: apt-get install gcc libc6-dev), or set CC"
    )]
    NoCompiler { path: String, compiler: String },
    /// The compiler says no, or warns, which counts as much.
    #[error("`{path}` does not compile:\n{messages}")]
    DoesNotCompile { path: String, messages: String },
    /// Functions, or other things that a host asks for, are missing.
    #[error("`{path}` lacks {}: a header that `tandem new` writes has all that a controller needs", .what.join(", "))]
    Lacks { path: String, what: Vec<String> },
    /// The state does not fit into the room that a connection has.
    #[error(
        "`{place}`: `struct {name}` has {bytes} bytes, and a controller's state at most {room}{}",
        if *.room < crate::STATE_BYTES { ": the kernel gives a connection 104, of which the end of slow start takes 16" }
        else { ", which the kernel gives a connection" }
    )]
    StateTooLarge { place: String, name: String, bytes: usize, room: usize },
    /// A parameter's numbers make no sense.
    #[error(
        "`{path}`: the parameter `{name}` {why}: write P(name, scale, default, least, most, \"what it is\") with all three as values times scale"
    )]
    BadParameter { path: String, name: String, why: String },
    /// It compiles, but what comes of it cannot be loaded.
    #[error(
        "`{path}` compiles, but cannot be loaded: {cause}; if it says `failed to map`, set TMPDIR to a folder that programs may run from"
    )]
    CannotLoad { path: String, cause: String },
    /// What is compiled has to lie somewhere for a moment.
    #[error("cannot write to the folder for temporary files: {0}; TMPDIR names another")]
    Temporary(String),
    /// The program is made without a compiler's help, as in a browser.
    #[error(
        "`{path}`: this program runs the controllers of the list alone; the command `tandem` and Python compile headers"
    )]
    NotInThisBuild { path: String },
}
