// All that this package needs of Node.js' own types.
declare module "node:crypto" {
  export function randomUUID(): string;
}
