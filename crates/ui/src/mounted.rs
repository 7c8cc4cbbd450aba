//! Builds the pages of a server: those of one toolbox behind a one-time link, or those of each principal for the operators who sign in.

use std::io;
use std::sync::Arc;

use axum::Router;
use tokio_util::sync::CancellationToken;
use toolcell_i18n::Lang;

use crate::access::{Access, LinkAccess, OperatorAccess, SignIn};
use crate::app::App;
use crate::error::UiError;
use crate::routes::routes;
use crate::site::Site;
use crate::source::ToolboxSource;

/// What a one-time link opens.
#[derive(Clone)]
pub struct LinkConfig {
    /// Where the tools are found.
    pub source: Arc<dyn ToolboxSource>,
    /// The person at the pages, as decisions name them.
    pub person: String,
    /// The caller whose suspended runs the person may continue: that of the command line.
    pub caller: String,
    /// The language for browsers that ask for none that there is.
    pub lang: Lang,
}

/// What operators get after they signed in.
#[derive(Clone)]
pub struct OperatorsConfig {
    /// Who may sign in.
    pub sign_in: Arc<dyn SignIn>,
    /// Where the tools of each principal are found, by its name.
    pub principals: Vec<(String, Arc<dyn ToolboxSource>)>,
    /// The language for browsers that ask for none that there is.
    pub lang: Lang,
}

/// Pages that a server of another crate has below a path of its own, whose host name it checks.
pub struct MountedPages {
    /// The pages, without the path that they are mounted at. A request has the [`IpAddr`](std::net::IpAddr) of its client among its
    /// extensions. An answer to a person with access has [`AnsweredFor`](crate::AnsweredFor) among its own.
    pub router: Router,
    /// Ends the event streams and the runs of the pages when it is cancelled.
    pub closing: CancellationToken,
}

impl MountedPages {
    /// Returns pages that a one-time link opens, and the path of the link below the server's address. `mount` is the path that they are
    /// mounted at, such as `/ui`.
    ///
    /// # Errors
    /// `no-threads`: the system provides no random numbers.
    pub fn with_link(config: LinkConfig, mount: &str) -> Result<(Self, String), UiError> {
        let (site, app, key) = link_site(config, mount, None)?;
        let pages = Self { router: routes(&site, &[app]), closing: site.closing.clone() };
        Ok((pages, format!("{mount}/open?key={key}")))
    }

    /// Returns pages for operators who sign in.
    ///
    /// # Errors
    /// `no-threads`: the system provides no random numbers.
    pub fn for_operators(config: OperatorsConfig, mount: &str) -> Result<Self, UiError> {
        let OperatorsConfig { sign_in, principals, lang } = config;
        let access = Access::Operators(OperatorAccess::new(mount, sign_in).map_err(no_random_numbers)?);
        let site = Site::new(access, mount, lang, None);
        let apps = principals.into_iter().map(|(principal, source)| {
            let base = site.base_of_principal(&principal);
            App::new(Arc::clone(&site), source, base, Some(principal))
        });
        let apps: Vec<_> = apps.collect();
        Ok(Self { router: routes(&site, &apps), closing: site.closing.clone() })
    }
}

/// Creates the site of a one-time link, and returns it with the key of the link. `port` is that of a server on loopback which checks host
/// names by itself.
pub(crate) fn link_site(
    config: LinkConfig,
    mount: &str,
    port: Option<u16>,
) -> Result<(Arc<Site>, Arc<App>, String), UiError> {
    let LinkConfig { source, person, caller, lang } = config;
    let (link, key) = LinkAccess::new(mount, person, caller).map_err(no_random_numbers)?;
    let base = format!("{mount}/{}/", link.folder());
    let site = Site::new(Access::Link(link), mount, lang, port);
    let app = App::new(Arc::clone(&site), source, base, None);
    Ok((site, app, key))
}

fn no_random_numbers(error: getrandom::Error) -> UiError {
    UiError::Start(io::Error::other(error.to_string()))
}
