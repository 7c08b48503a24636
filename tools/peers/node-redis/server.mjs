// A stand-in for the server of the viewing-time paper's toolkit. For benches only.
//
//     PORT=8090 REDIS_PORT=6390 [WAIT=1] node server.mjs
//
// Of each trial its page sends two forms, one after the other, and waits for both: how far the
// participant is, which the server stores before it answers, and the answer, which the server prints,
// hands to Redis in two writes and confirms without waiting for either. The same parsers and
// compression stand before them. Left out is what would only slow it down: HTTPS, the participant's
// address, promises of a library.
//
// `/trial` is leaner than the toolkit: one request with JSON, nothing printed.
//
// With WAIT=1 all writes are waited for, which is as durable as Redis is told to be.

import compression from 'compression';
import cookieParser from 'cookie-parser';
import express from 'express';
import { createClient } from 'redis';

const redis = createClient({ socket: { host: '127.0.0.1', port: Number(process.env.REDIS_PORT) } });
redis.on('error', () => {});
await redis.connect();

const store = async (key, fields, set, member) => {
  const words = Object.entries(fields).flat().map(String);
  const writes = [redis.hSet(key, words), redis.sAdd(set, String(member))];
  if (process.env.WAIT) await Promise.all(writes);
  else writes.forEach((write) => write.catch(() => {}));
};

const lean = express.Router();
lean.post('/trial', express.json({ limit: '100kb' }), async (request, response) => {
  const { session, idx, ...trial } = request.body;
  await store(`session:${session}:trial:${idx}`, trial, `session:${session}:trials`, idx);
  response.end('ok');
});

const toolkit = express.Router();
toolkit.use(compression(), cookieParser(), express.urlencoded({ extended: true }));
toolkit.post('/update_timestamp', async (request, response) => {
  const { assignment_id: assignment, timestamp } = request.body;
  response.send([await redis.hSet(`${assignment}:timestamp`, timestamp)]);
});
toolkit.post('/submit_response', async (request, response) => {
  const { task_length: _, ...trial } = request.body;
  console.log(trial);
  const of = `${trial.link_id}:worker_id:${trial.worker_id}`;
  await store(`${of}:response:${trial.trial_num}`, trial, `${of}:responses`, trial.trial_num);
  response.end();
});

const app = express();
app.get('/count', async (_, response) => response.json({ n: await redis.dbSize() }));
app.use(lean, toolkit);
app.listen(Number(process.env.PORT), '127.0.0.1');
