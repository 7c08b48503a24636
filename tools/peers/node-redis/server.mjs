// A stand-in for the design of the reference toolkit of viewing time: Express takes a trial, hands two
// writes to Redis and answers at once, without waiting for either. With WAIT=1 it waits for both, which
// is as durable as Redis is told to be. For benches only.
//
//     PORT=8090 REDIS_PORT=6390 [WAIT=1] node server.mjs

import express from 'express';
import { createClient } from 'redis';

const redis = createClient({ socket: { host: '127.0.0.1', port: Number(process.env.REDIS_PORT) } });
redis.on('error', () => {});
await redis.connect();

const app = express();
app.use(express.json({ limit: '100kb' }));

app.post('/trial', async (request, response) => {
  const { session, idx, ...trial } = request.body;
  const writes = [
    redis.hSet(`session:${session}:trial:${idx}`, Object.entries(trial).flat().map(String)),
    redis.rPush(`session:${session}:trials`, String(idx)),
  ];
  if (process.env.WAIT) await Promise.all(writes);
  else writes.forEach((write) => write.catch(() => {}));
  response.end('ok');
});

app.get('/count', async (_, response) => {
  let n = 0;
  for await (const key of redis.scanIterator({ MATCH: 'session:*:trials', COUNT: 1000 })) {
    n += await redis.lLen(key);
  }
  response.json({ n });
});

app.listen(Number(process.env.PORT), '127.0.0.1');
