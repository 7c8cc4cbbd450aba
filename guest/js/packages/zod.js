// What `import … from "zod"` gives: the subset of Zod that `@oh-my-pi/omptype` implements, as in oh-my-pi.

export * from '@oh-my-pi/omptype/zod';
export { z as default } from '@oh-my-pi/omptype/zod';
