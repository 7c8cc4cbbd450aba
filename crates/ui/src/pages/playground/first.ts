export function execute({ name }: { name: string }): string {
  return `Hello, ${name}`;
}
