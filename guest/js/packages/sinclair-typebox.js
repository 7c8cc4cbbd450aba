// What `import … from "@sinclair/typebox"` gives: the package of this name, whole.

export * from '@sinclair/typebox';
