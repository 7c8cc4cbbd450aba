//! Native QuickJS without a sandbox: the guest's version, with its crate's default setup.

use rquickjs::promise::MaybePromise;
use rquickjs::{Context, Function, Runtime, Value};

/// A runtime with one context, in which a tool is evaluated.
pub(crate) struct Native {
    context: Context,
}

impl Native {
    /// Creates a runtime and a context, and evaluates the tool.
    pub(crate) fn new(source: &str) -> Self {
        let runtime = Runtime::new().unwrap();
        let context = Context::full(&runtime).unwrap();
        context.with(|ctx| ctx.eval::<(), _>(source)).unwrap();
        Self { context }
    }

    /// Makes a warm call, which reuses the context.
    pub(crate) fn call(&self, params: &str) -> Option<String> {
        self.context.with(|ctx| {
            let execute: Function<'_> = ctx.globals().get("execute").unwrap();
            let params = ctx.json_parse(params).unwrap();
            let returned: MaybePromise<'_> = execute.call((params,)).unwrap();
            let result: Value<'_> = returned.finish().unwrap();
            ctx.json_stringify(result).unwrap().map(|text| text.to_string().unwrap())
        })
    }
}
