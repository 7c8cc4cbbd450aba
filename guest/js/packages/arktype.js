// What `import … from "arktype"` gives: the ArkType interface of `@oh-my-pi/omptype`, as in oh-my-pi.

export * from '@oh-my-pi/omptype/ark';
