//! QuickJS compiled for this machine, without a sandbox: the version that the guest has, as its crate sets it up.

use rquickjs::promise::MaybePromise;
use rquickjs::{Context, Function, Runtime, Value};

/// A runtime with one context, in which one tool was evaluated.
pub(crate) struct Native {
    context: Context,
}

impl Native {
    /// A new runtime, a new context, and the tool in it.
    pub(crate) fn new(source: &str) -> Self {
        let runtime = Runtime::new().unwrap();
        let context = Context::full(&runtime).unwrap();
        context.with(|ctx| ctx.eval::<(), _>(source)).unwrap();
        Self { context }
    }

    /// A warm call: the context is kept.
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
