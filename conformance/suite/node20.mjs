// Lets Node 20 load the suite: it imports fs.globSync, which came with Node 22, for a
// command that is not used here.
import { register } from 'node:module';

const hooks = `
export async function resolve(specifier, context, next) {
  return specifier === 'fs' ? { url: 'suite:fs', shortCircuit: true } : next(specifier, context);
}
export async function load(url, context, next) {
  if (url !== 'suite:fs') return next(url, context);
  const source = "export * from 'node:fs'; export { default } from 'node:fs'; export function globSync() { throw new Error('needs Node 22'); }";
  return { format: 'module', shortCircuit: true, source };
}`;

register('data:text/javascript,' + encodeURIComponent(hooks), import.meta.url);
