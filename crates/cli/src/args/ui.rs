//! Arguments of `ui`.

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  toolcell ui\n  toolcell ui --open\n  toolcell ui --port 8200\n\n\
    The page listens on 127.0.0.1, until Ctrl-C. The link that is printed opens it in one browser, once.")]
pub(crate) struct UiArgs {
    /// Open the page in the browser
    #[arg(long)]
    pub(crate) open: bool,

    /// The port to listen on, or 0 for any free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,
}
