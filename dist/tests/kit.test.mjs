// Tests the JavaScript adapter kit: a stop in any form closes the gate of a tool, and the tool fails.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { gate } from 'brickbat-adapter';

const STOPS = {
  'a signal': () => {
    const controller = new AbortController();
    return [controller.signal, () => controller.abort()];
  },
  'a promise': () => {
    let stop;
    return [new Promise((resolve) => { stop = resolve; }), () => stop()];
  },
  'a token': () => {
    const heard = [];
    const token = { isCancellationRequested: false, onCancellationRequested: (stop) => heard.push(stop) };
    return [token, () => heard.forEach((stop) => stop())];
  },
};

for (const [kind, make] of Object.entries(STOPS)) {
  test(`${kind} closes the gate`, async (context) => {
    const server = createServer((request, answer) => {
      if (request.url === '/open') answer.end(JSON.stringify({ kind: 'return', text: 'found' }));
      request.resume();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    context.after(() => server.closeAllConnections() ?? server.close());
    const url = `http://127.0.0.1:${server.address().port}`;
    const [stop, end] = make();
    assert.equal(await gate({ gateUrl: `${url}/open`, deaf: false }, {}, stop), 'found');
    const asked = once(server, 'request');
    const tool = assert.rejects(gate({ gateUrl: `${url}/closed`, deaf: false }, {}, stop), { name: 'AbortError' });
    const [, answer] = await asked;
    const closed = once(answer, 'close');
    end();
    await tool;
    await closed;
  });
}
