//! The variables of the environment that every worker and every command may see. What else one needs, its configuration names.

/// Where things are, how to show text, how to reach the network, where tool chains lie. None of them holds a secret.
const COMMON: [&str; 37] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "LC_*",
    "TERM",
    "TZ",
    "TMPDIR",
    "XDG_*",
    "COLORTERM",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "all_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "NODE_OPTIONS",
    "RUSTUP_HOME",
    "CARGO_HOME",
    "JAVA_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "NVM_DIR",
    "PNPM_HOME",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
    "CI",
];

/// Their names; a `*` at the end is any end.
pub fn common() -> impl Iterator<Item = String> {
    COMMON.iter().map(|name| (*name).to_owned())
}
