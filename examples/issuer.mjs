// An issuer for Node.js 18 or later, with nothing but Node's own modules: read it from top to bottom.
//
// It speaks version 1 of the issuer protocol (docs/reference/protocol.md), with both forms of the assertion and batch
// fetch, and without push. One process, everything in memory, plain HTTP on loopback: README.md says what a bank's
// issuer has besides. Start it with `node examples/issuer.mjs [PORT]`.

import crypto from 'node:crypto';
import http from 'node:http';

const RP_ID = 'localhost'; // The issuer's host, or a parent domain of it.
const LIFETIME = 600; // Seconds that the payer has.
const CEREMONY = 1200; // Seconds for which an enrollment's answer is kept; the agent repeats for 600.
const MAX_BODY = 2_097_152;
const KID = '2026-1';
const { privateKey, publicKey } = crypto.generateKeyPairSync('ec', { namedCurve: 'P-256' }); // A bank's is in an HSM.
const CURVES = { '-7': ['EC', 'P-256', 'sha256'], '-35': ['EC', 'P-384', 'sha384'], '-8': ['OKP', 'Ed25519', null] };
const REASONS = ['userDenied', 'suspectedFraud', 'invalidRequest', 'duplicate', 'policy'];
const CURRENCIES = { 840: 'USD', 978: 'EUR', 826: 'GBP', 392: 'JPY', '048': 'BHD' }; // All of ISO 4217 in a bank's.

const codes = new Set(); // Enrollment codes that were handed out and not used yet.
const ceremonies = new Map(); // By ceremonyId; an enrollment under way, and later its answer.
const authenticators = new Map(); // By accessToken.
const requests = new Map(); // By jti.
const messages = []; // Requests and cancellations in the order in which they are listed; a cursor is a place in it.
const waiting = new Set(); // Who waits for news.
let offset = 0; // Seconds that a test has moved the clock ahead.

const now = () => Math.floor(Date.now() / 1000) + offset;
const random = (length) => crypto.randomBytes(length).toString('base64url');
const sha256 = (...parts) => parts.reduce((hash, part) => hash.update(part), crypto.createHash('sha256')).digest();

// An answer of RFC 9457. Only one with a code that the protocol lists ends what the agent tries.
class Problem extends Error {
  constructor(status, code, title) {
    super(title);
    Object.assign(this, { status, body: { status, code, title } });
  }
}

function must(condition, title, status = 400, code = 'invalid_request') {
  if (!condition) throw new Problem(status, code, title);
}

// MARK: Bodies

// JSON.parse takes the last of two members with one name, and any depth: both are errors here.
function parse(bytes) {
  const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  const value = JSON.parse(text);
  const open = [];
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"\s*:?|[{}[\]]/g)) {
    if (token === '{' || token === '[') must(open.push(new Set()) <= 16, 'more than 16 levels');
    else if (token === '}' || token === ']') open.pop();
    else if (token.endsWith(':')) {
      const [names, name] = [open.at(-1), JSON.parse(token.slice(0, -1))];
      must(!names.has(name), 'a name is there twice');
      names.add(name);
    }
  }
  must(isObject(value), 'a body is an object');
  return value;
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

function text(body, name, most = 256) {
  must(typeof body[name] === 'string' && body[name] !== '' && Buffer.byteLength(body[name]) <= most,
    `${name} must be a text of 1 to ${most} bytes`);
  return body[name];
}

function object(body, name) {
  must(isObject(body[name]), `${name} must be an object`);
  return body[name];
}

function decoded(body, name) {
  const value = text(body, name, MAX_BODY);
  const bytes = Buffer.from(value, 'base64url');
  must(bytes.toString('base64url') === value, `${name} must be base64url without padding`);
  return bytes;
}

// MARK: WebAuthn

// As much CBOR as authenticators write: integers, bytes, texts, arrays and maps.
function cbor(bytes) {
  let place = 0;
  function take(length) {
    if (place + length > bytes.length) throw new RangeError('CBOR is cut off');
    return bytes.subarray(place, (place += length));
  }
  function item() {
    const [head] = take(1);
    const [kind, low] = [head >> 5, head & 31];
    if (low > 26) throw new RangeError('CBOR of a kind that is not used here');
    const number = low < 24 ? low : take(1 << (low - 24)).readUIntBE(0, 1 << (low - 24));
    if (kind === 0) return number;
    if (kind === 1) return -1 - number;
    if (kind === 2) return take(number);
    if (kind === 3) return take(number).toString();
    if (kind === 4) return Array.from({ length: number }, item);
    if (kind === 5) return new Map(Array.from({ length: number }, () => [item(), item()]));
    throw new RangeError('CBOR of a kind that is not used here');
  }
  return { value: item(), end: place };
}

function authenticatorData(bytes) {
  if (bytes.length < 37) throw new RangeError('authenticator data is cut off');
  const flags = bytes[32];
  const data = { rpIdHash: bytes.subarray(0, 32), present: (flags & 1) !== 0, verified: (flags & 4) !== 0,
    signCount: bytes.readUInt32BE(33), end: 37 };
  if ((flags & 64) !== 0) {
    const length = bytes.readUInt16BE(53);
    const key = cbor(bytes.subarray(55 + length));
    Object.assign(data, { aaguid: bytes.subarray(37, 53), credentialId: bytes.subarray(55, 55 + length),
      key: key.value, end: 55 + length + key.end });
  }
  if (data.end !== bytes.length) throw new RangeError('authenticator data has a wrong length');
  return data;
}

// The key that was attested, of an algorithm that was offered.
function coseKey(key) {
  const [kty, crv] = CURVES[key.get(3)];
  const jwk = { kty, crv, x: key.get(-2).toString('base64url') };
  if (kty === 'EC') jwk.y = key.get(-3).toString('base64url');
  return { algorithm: key.get(3), key: crypto.createPublicKey({ key: jwk, format: 'jwk' }) };
}

const isSigned = ({ algorithm, key }, data, clientData, signature) =>
  crypto.verify(CURVES[algorithm][2], Buffer.concat([data, sha256(clientData)]), key, signature);

// Client data and authenticator data, by the rules that an attestation and an assertion share.
function checked(response, data, type, challenge, code) {
  const holds = (condition, title) => must(condition, title, 422, code);
  const client = JSON.parse(decoded(response, 'clientDataJSON'));
  holds(client.type === type, 'another type');
  holds(client.challenge === challenge.toString('base64url'), 'another challenge');
  holds(client.origin === ORIGIN, 'another origin');
  holds(client.crossOrigin === false, 'made in a frame');
  holds(data.rpIdHash.equals(sha256(RP_ID)), 'another relying party');
  holds(data.present, 'nobody was there');
  return { client, holds };
}

// What cannot be read within a credential does not verify.
function verified(code, work) {
  try { return work(); } catch (error) {
    throw error instanceof Problem ? error : new Problem(422, code, error.message);
  }
}

function attested(credential, challenge) {
  const code = 'invalid_registration';
  const response = object(credential, 'response');
  const bytes = decoded(response, 'attestationObject');
  return verified(code, () => {
    const attestation = cbor(bytes).value;
    const data = authenticatorData(attestation.get('authData'));
    const { holds } = checked(response, data, 'webauthn.create', challenge, code);
    const key = coseKey(data.key);
    holds(credential.id === data.credentialId.toString('base64url'), 'another credential');
    holds(decoded(response, 'publicKey').equals(key.key.export({ type: 'spki', format: 'der' })), 'another key');
    if (attestation.get('fmt') === 'packed') {
      const [statement, client] = [attestation.get('attStmt'), decoded(response, 'clientDataJSON')];
      holds(statement.get('alg') === key.algorithm, 'another algorithm');
      holds(isSigned(key, attestation.get('authData'), client, statement.get('sig')), 'the attestation does not hold');
    } else holds(attestation.get('fmt') === 'none', 'another attestation');
    return { ...key, id: credential.id, signCount: data.signCount };
  });
}

function asserted(credential, authenticator, request) {
  const code = 'invalid_assertion';
  const response = object(credential, 'response');
  const [bytes, client, signature] = ['authenticatorData', 'clientDataJSON', 'signature']
    .map((name) => decoded(response, name));
  return verified(code, () => {
    const data = authenticatorData(bytes);
    const type = request.payment ? 'payment.get' : 'webauthn.get';
    const { client: said, holds } = checked(response, data, type, request.challenge, code);
    holds(credential.id === authenticator.id, 'another credential');
    holds(response.userHandle === authenticator.user, 'another userHandle');
    holds(data.verified || !request.verified, 'the user was not verified');
    holds(data.signCount > authenticator.signCount, 'signCount is not greater');
    if (request.payment) holds(pays(said.payment, request), 'another payment');
    holds(isSigned(authenticator, bytes, client, signature), 'the signature does not hold');
    return data.signCount;
  });
}

// Whether the payer agreed to what was asked (section 8.2). Client data is read, and never compared as a whole.
function pays(said, { payment, transaction }) {
  const [amount, exponent] = [transaction.purchaseAmount, Number(transaction.purchaseExponent)];
  const digits = amount.replace(/^0+/, '').padStart(exponent + 1, '0');
  const value = exponent ? `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}` : digits;
  return said.rpId === RP_ID && said.topOrigin === ORIGIN && said.payeeName === transaction.merchantName
    && said.payeeOrigin === payment.payeeOrigin && said.total.value === value
    && said.total.currency === CURRENCIES[transaction.purchaseCurrency]
    && said.instrument.displayName === payment.instrument.displayName
    && said.instrument.icon === payment.instrument.icon;
}

// MARK: Enrollment

function enrollmentOptions(body) {
  must(codes.delete(text(body, 'enrollmentCode')), 'the code is wrong or was used', 403, 'invalid_enrollment_code');
  const ceremony = { challenge: crypto.randomBytes(32), user: random(32), end: now() + CEREMONY };
  const ceremonyId = random(16);
  ceremonies.set(ceremonyId, ceremony);
  return { ceremonyId, publicKey: {
    rp: { id: RP_ID, name: 'Example Bank' }, user: { id: ceremony.user, name: 'cardholder', displayName: 'Cardholder' },
    challenge: ceremony.challenge.toString('base64url'), excludeCredentials: [], attestation: 'direct',
    pubKeyCredParams: Object.keys(CURVES).sort((a, b) => b - a).map((alg) => ({ type: 'public-key', alg: Number(alg) })),
    authenticatorSelection: { userVerification: 'preferred' } } };
}

// The same bytes get the same answer again, for an answer can get lost.
function enroll(body, bytes) {
  const ceremony = ceremonies.get(text(body, 'ceremonyId'));
  const isOpen = ceremony && now() < ceremony.end && (!ceremony.bytes || ceremony.bytes.equals(bytes));
  must(isOpen, 'the ceremony is over or unknown', 410, 'ceremony_expired');
  if (!ceremony.bytes) {
    const about = object(body, 'authenticator');
    text(about, 'name');
    text(about, 'version', 64);
    const made = attested(object(body, 'credential'), ceremony.challenge);
    const [authenticatorId, accessToken] = [random(12), random(32)];
    authenticators.set(accessToken, { ...made, authenticatorId, user: ceremony.user });
    Object.assign(ceremony, { bytes, answer: { authenticatorId, accessToken } });
  }
  return ceremony.answer;
}

// MARK: Requests

// RFC 8785 of an object whose values are all texts: JavaScript's own order and spelling.
const jcs = (texts) => JSON.stringify(Object.fromEntries(Object.entries(texts).sort(([a], [b]) => (a < b ? -1 : 1))));

// Signs a message and lists it. The request says for whom it is, and until when.
function send(request, typ, claims) {
  const payload = { iss: ORIGIN, aud: request.aud, iat: now(), exp: request.exp, ...claims };
  const signed = [{ alg: 'ES256', kid: KID, typ }, payload]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  const signature = crypto.sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' });
  messages.push({ request, isCancellation: 'cancels' in claims, jws: `${signed}.${signature.toString('base64url')}` });
  wake();
}

// What the ACS calls: asks the payer, and answers when the payer has. The challenge commits to every member.
// The body is {transaction, authenticatorId, lifetime, userVerification, payment}, all but the first optional: without an
// authenticatorId the one that enrolled last is asked. Or it is the transaction alone.
async function ask(body) {
  const order = 'transaction' in body ? body : { transaction: body };
  const { authenticatorId, transaction, lifetime = LIFETIME, userVerification = 'preferred', payment } = order;
  const payer = [...authenticators.values()]
    .filter((one) => [undefined, one.authenticatorId].includes(authenticatorId)).at(-1);
  must(payer && isObject(transaction), 'nobody to ask, or nothing to ask for');
  const [jti, nonce] = [random(16), crypto.randomBytes(32)];
  const challenge = sha256('oob-authn-v1\0', nonce, jcs(transaction));
  const request = { aud: payer.authenticatorId, challenge, exp: now() + lifetime, transaction, payment,
    verified: userVerification === 'required' };
  requests.set(jti, request);
  send(request, 'oob-authn-request+jwt', { jti, nonce: nonce.toString('base64url'), transaction, publicKey: {
    challenge: challenge.toString('base64url'), rpId: RP_ID, userVerification,
    allowCredentials: [{ type: 'public-key', id: payer.id }],
    ...(payment && { extensions: { payment: { isPayment: true, ...payment } } }) } });
  await news(() => request.transStatus || request.cancelled, lifetime);
  return { transStatus: request.transStatus || 'N' };
}

// What the ACS calls when the payer has left. What was decided stays as it is.
function cancel({ jti }) {
  const request = requests.get(jti);
  must(request, 'there is no such request');
  if (!request.bytes && !request.cancelled) {
    request.cancelled = true;
    send(request, 'oob-authn-cancel+jwt', { jti: random(16), cancels: jti });
  }
  return {};
}

// MARK: Fetching

function wake() {
  for (const look of [...waiting]) look();
}

// Ends when `condition` holds, or after so many seconds.
function news(condition, seconds) {
  return new Promise((resolve) => {
    const end = () => { clearTimeout(timer); waiting.delete(look); resolve(); };
    const look = () => { if (condition()) end(); };
    const timer = setTimeout(end, seconds * 1000);
    waiting.add(look);
    look();
  });
}

// A request is listed until it is decided, cancelled or expired; a cancellation until it expires.
const isListed = ({ request, isCancellation }) =>
  (isCancellation || (!request.bytes && !request.cancelled)) && now() < request.exp;

function list(authenticator, after, most) {
  const known = after === undefined || (/^[0-9]{1,9}$/.test(after) && Number(after) <= messages.length);
  must(known, 'start without a cursor', 410, 'unknown_cursor');
  let cursor = Number(after ?? 0);
  const found = [];
  for (let place = cursor; place < messages.length && found.length < most; place++) {
    const message = messages[place];
    if (message.request.aud !== authenticator.authenticatorId || !isListed(message)) continue;
    found.push(message.jws);
    cursor = place + 1;
  }
  return { requests: found, cursor: String(cursor) };
}

async function fetch(authenticator, { wait = '0', after }) {
  must(/^[0-9]{1,2}$/.test(wait) && Number(wait) <= 60, 'wait must be 0 to 60');
  const look = () => list(authenticator, after, 100);
  look();
  if (after !== undefined) await news(() => look().requests.length > 0, Number(wait));
  return look();
}

// Each entry is a fetch of its own; the answer has what has something to say.
async function batchFetch({ wait, authenticators: entries }) {
  must(Number.isInteger(wait) && wait >= 0 && wait <= 60, 'wait must be 0 to 60');
  must(Array.isArray(entries) && entries.length <= 1000 && entries.every(isObject), 'at most 1000 authenticators');
  const look = () => {
    let room = 100;
    return entries.map(({ authenticatorId, accessToken, after }) => {
      const authenticator = authenticators.get(accessToken);
      try {
        must(authenticator?.authenticatorId === authenticatorId, 'nobody has this token', 401, 'invalid_token');
        const found = list(authenticator, after ?? undefined, room);
        room -= found.requests.length;
        return found.requests.length || after == null ? { authenticatorId, ...found } : null;
      } catch (error) {
        return { authenticatorId, problem: { code: error.body.code } };
      }
    }).filter(Boolean);
  };
  await news(() => look().length > 0, wait);
  return { results: look() };
}

// MARK: Decisions

// Takes an approval or a denial, once; the same bytes are answered the same again.
function decide(authenticator, jti, body, bytes) {
  const request = requests.get(jti);
  must(request?.aud === authenticator.authenticatorId, 'there is no such request', 404, 'unknown_request');
  must(!request.bytes || request.bytes.equals(bytes), 'another decision was taken', 409, 'already_decided');
  if (!request.bytes) {
    must(!request.cancelled, 'the payer has left', 410, 'cancelled');
    must(now() < request.exp, 'the payer took too long', 410, 'expired');
    must(['approve', 'deny'].includes(body.decision), 'decision must be approve or deny');
    if (body.decision === 'approve') {
      authenticator.signCount = asserted(object(body, 'credential'), authenticator, request);
    } else must(REASONS.includes(body.reason), 'there is no such reason');
    Object.assign(request, { bytes, transStatus: body.decision === 'approve' ? 'Y' : 'N' });
    wake();
  }
  return { transStatus: request.transStatus };
}

// MARK: Calls

const discovery = () => ({ issuer: ORIGIN, protocolVersions: [1], jwksUri: `${ORIGIN}/jwks.json`,
  enrollmentOptionsEndpoint: `${ORIGIN}/v1/enrollment-options`, enrollmentsEndpoint: `${ORIGIN}/v1/enrollments`,
  authnRequestsEndpoint: `${ORIGIN}/v1/authn-requests`, authenticatorEndpoint: `${ORIGIN}/v1/authenticator`,
  batchFetchEndpoint: `${ORIGIN}/v1/batch-fetch` });

function newCode() {
  const code = `DEMO-${crypto.randomBytes(4).toString('hex')}`;
  codes.add(code);
  return { code };
}

function move({ seconds }) {
  offset += seconds;
  wake();
  return { now: now() };
}

// [status, JSON] of one call. Those under /bank and /acs stand for the bank's other systems.
async function answer(method, url, token, bytes) {
  const body = bytes.length ? parse(bytes) : {};
  switch (`${method} ${url.pathname}`) {
    case 'GET /.well-known/oob-authenticator': return [200, discovery()];
    case 'GET /jwks.json':
      return [200, { keys: [{ ...publicKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig', kid: KID }] }];
    case 'POST /v1/enrollment-options': return [200, enrollmentOptions(body)];
    case 'POST /v1/enrollments': return [201, enroll(body, bytes)];
    case 'POST /v1/batch-fetch': return [200, await batchFetch(body)];
    case 'POST /bank/codes': return [200, newCode()];
    case 'POST /acs/challenges': return [200, await ask(body)];
    case 'POST /acs/cancellations': return [200, cancel(body)];
    case 'POST /acs/outcomes': return [200, { transStatus: requests.get(body.jti)?.transStatus || 'N' }];
    case 'POST /bank/clock': return [200, move(body)];
  }
  const authenticator = authenticators.get(token);
  must(authenticator, 'nobody has this token', 401, 'invalid_token');
  const decision = /^\/v1\/authn-requests\/([^/]+)\/decision$/.exec(url.pathname);
  if (method === 'POST' && decision) return [200, decide(authenticator, decision[1], body, bytes)];
  switch (`${method} ${url.pathname}`) {
    case 'GET /v1/authn-requests': return [200, await fetch(authenticator, Object.fromEntries(url.searchParams))];
    case 'GET /v1/authenticator':
      return [200, { authenticatorId: authenticator.authenticatorId, signCount: authenticator.signCount }];
    case 'DELETE /v1/authenticator': return authenticators.delete(token) && [204, null];
  }
  throw new Problem(404, undefined, 'there is nothing here');
}

const server = http.createServer(async (request, response) => {
  let [status, body] = [500, {}];
  try {
    const parts = [];
    let length = 0;
    for await (const part of request) {
      must((length += part.length) <= MAX_BODY, 'the body is too large');
      parts.push(part);
    }
    const token = (request.headers.authorization ?? '').replace(/^Bearer /, '');
    [status, body] = await answer(request.method, new URL(request.url, ORIGIN), token, Buffer.concat(parts));
  } catch (error) {
    const problem = error instanceof Problem ? error : new Problem(400, 'invalid_request', error.message);
    [status, body] = [problem.status, problem.body];
  }
  response.writeHead(status, { 'content-type': `application/${status < 400 ? 'json' : 'problem+json'}` });
  response.end(body === null ? undefined : JSON.stringify(body));
});

let ORIGIN;
server.listen(Number(process.argv[2] ?? 8090), '127.0.0.1', () => {
  ORIGIN = `http://localhost:${server.address().port}`; // Without a slash at its end.
  console.log(`oobctl enroll --issuer ${ORIGIN} --code ${newCode().code}`);
});
