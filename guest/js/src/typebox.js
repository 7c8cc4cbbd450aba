// The builder of schemas that tools know as `@sinclair/typebox`, whole, as a module of its own: the guest evaluates it
// for those tools alone that ask for it.

export * from '@sinclair/typebox';
