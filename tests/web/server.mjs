// SPDX-License-Identifier: MIT
// Serves a folder on loopback, compressed, as a plain web server would.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';
import { gzipSync } from 'node:zlib';

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
};

/** isolated: sends the headers that threads need. Returns the address, the bytes sent so far, and how to stop. */
export async function serve(folder, isolated) {
  const sent = new Map();
  const packed = new Map();
  const server = createServer(async (request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
    const file = join(folder, path.endsWith('/') ? `${path}index.html` : path);
    try {
      if (!packed.has(file)) packed.set(file, gzipSync(await readFile(file), { level: 9 }));
    } catch {
      response.writeHead(404).end();
      return;
    }
    const body = packed.get(file);
    const headers = { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream', 'Content-Encoding': 'gzip' };
    if (isolated) {
      headers['Cross-Origin-Opener-Policy'] = 'same-origin';
      headers['Cross-Origin-Embedder-Policy'] = 'require-corp';
    }
    sent.set(path, body.length);
    response.writeHead(200, headers).end(body);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return { address: `http://127.0.0.1:${server.address().port}/`, sent, stop: () => server.close() };
}
