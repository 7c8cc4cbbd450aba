// What `import … from "typebox"` gives: the subset of TypeBox that `@oh-my-pi/omptype` implements, as in oh-my-pi.

export * from '@oh-my-pi/omptype/typebox';
export { default } from '@oh-my-pi/omptype/typebox';
