// An issuer in JavaScript, with the modules that come with Node.js 18 and nothing else.
//
// It speaks version 1 of the issuer protocol (docs/reference/protocol.md). Read it from top to bottom: keys and
// encodings, enrollment, requests, decisions, HTTP. One process, everything in memory, plain HTTP on loopback; README.md
// says what a bank's issuer has besides. The calls below /bank and /acs are not the protocol's: they stand for the bank's
// other systems, and only tests use /bank/codes.

import { createHash, createPublicKey, generateKeyPairSync, randomBytes, sign, verify } from 'node:crypto'
import { createServer } from 'node:http'

const RP_ID = 'localhost' // The issuer's host, or a parent domain of it.
const LIFETIME = 600 // Seconds that the payer has.
const REASONS = ['userDenied', 'suspectedFraud', 'invalidRequest', 'duplicate', 'policy']
const UP = 0x01, UV = 0x04, AT = 0x40

const codes = new Set()
const ceremonies = new Map() // By ceremonyId: an enrollment under way, and later its answer.
const authenticators = new Map() // By access token.
const listed = [] // Requests and cancellations in the order of their making; a cursor is a place in it.
const waiting = new Set() // Called when something has changed.

// An answer of RFC 9457. Only one with a code that the protocol lists ends what the authenticator tries.
class Problem extends Error {
  constructor(status, code, title) {
    super(title)
    this.status = status
    this.body = { type: 'about:blank', title, status, ...(code && { code }) }
  }
}
const invalid = title => new Problem(400, 'invalid_request', title)

// Keys and encodings

const now = () => Math.floor(Date.now() / 1000)
const random = count => randomBytes(count).toString('base64url')
const sha256 = bytes => createHash('sha256').update(bytes).digest()
const issuerKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }) // A bank's is in an HSM.
const jwk = { ...issuerKey.publicKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig', kid: '2026-1' }

// Base64url in its only valid spelling.
function bytesOf(text, what) {
  const bytes = Buffer.from(typeof text === 'string' ? text : '', 'base64url')
  if (bytes.toString('base64url') !== text) throw invalid(`${what} must be base64url`)
  return bytes
}

// JSON in UTF-8. JSON.parse keeps the last of two members of one name, which a bank would refuse.
function objectOf(bytes) {
  let value
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes))
  } catch {
    throw invalid('the body must be JSON in UTF-8')
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw invalid('the body must be an object')
  return value
}

function memberOf(object, name, type) {
  const value = object?.[name]
  if (value === null || typeof value !== type || Array.isArray(value)) throw invalid(`${name} must be there, of type ${type}`)
  return value
}

// RFC 8785 of an object whose values are strings: JavaScript orders strings as it asks, by UTF-16 code units.
const canonical = transaction =>
  '{' + Object.keys(transaction).sort().map(n => `${JSON.stringify(n)}:${JSON.stringify(transaction[n])}`).join(',') + '}'

// A compact JWS (RFC 7515) of a request or a cancellation.
function signed(typ, claims) {
  const part = value => Buffer.from(JSON.stringify(value)).toString('base64url')
  const input = `${part({ alg: 'ES256', kid: jwk.kid, typ })}.${part(claims)}`
  const signature = sign('sha256', Buffer.from(input), { key: issuerKey.privateKey, dsaEncoding: 'ieee-p1363' })
  return `${input}.${signature.toString('base64url')}`
}

function changed() {
  for (const call of [...waiting]) call()
}

// Resolves when `isThere` holds, or the seconds are over.
function until(isThere, seconds) {
  return new Promise(resolve => {
    const look = () => {
      if (!isThere()) return
      waiting.delete(look)
      clearTimeout(timer)
      resolve()
    }
    const timer = setTimeout(() => { waiting.delete(look); resolve() }, seconds * 1000)
    waiting.add(look)
    look()
  })
}

// Enrollment

function newCode() {
  const code = `DEMO-${randomBytes(4).toString('hex')}`
  codes.add(code)
  return { code }
}

function enrollmentOptions(body) {
  if (!codes.delete(memberOf(body, 'enrollmentCode', 'string'))) {
    throw new Problem(403, 'invalid_enrollment_code', 'the code is wrong or was used')
  }
  const [ceremonyId, challenge, userId] = [random(16), randomBytes(32), randomBytes(16)]
  ceremonies.set(ceremonyId, { challenge, userId })
  return {
    ceremonyId,
    publicKey: {
      rp: { id: RP_ID, name: 'Example Bank' },
      user: { id: userId.toString('base64url'), name: 'cardholder', displayName: 'Cardholder' },
      challenge: challenge.toString('base64url'),
      pubKeyCredParams: [{ type: 'public-key', alg: -7 }],
      excludeCredentials: [],
      authenticatorSelection: { userVerification: 'preferred' },
      attestation: 'none'
    }
  }
}

// The parts of authenticator data that this issuer looks at (WebAuthn Level 3, section 6.1).
function authenticatorData(bytes) {
  if (bytes.length < 37) throw invalid('authenticatorData is too short')
  return { rpIdHash: bytes.subarray(0, 32), flags: bytes[32], signCount: bytes.readUInt32BE(33), rest: bytes.subarray(37) }
}

function check(holds, code, title) {
  if (!holds) throw new Problem(422, code, title)
}

// What registrations and assertions have in common: client data of this type and challenge, this relying party, UP.
function checkCeremony(code, type, challenge, clientDataJSON, data) {
  let client
  try { client = JSON.parse(clientDataJSON.toString('utf8')) } catch { throw invalid('clientDataJSON must be JSON') }
  check(client.type === type, code, `the type must be ${type}`)
  check(client.challenge === challenge.toString('base64url'), code, 'the challenge is another one')
  check(client.origin === origin, code, 'the origin is another one')
  check(client.crossOrigin === undefined || client.crossOrigin === false, code, 'crossOrigin must be false')
  check(data.rpIdHash.equals(sha256(RP_ID)), code, 'the relying party is another one')
  check(data.flags & UP, code, 'the user was not present')
}

function enroll(body, bytes) {
  const ceremony = ceremonies.get(memberOf(body, 'ceremonyId', 'string'))
  if (!ceremony || (ceremony.bytes && !ceremony.bytes.equals(bytes))) {
    throw new Problem(410, 'ceremony_expired', 'the ceremony is over or unknown')
  }
  if (ceremony.bytes) return ceremony.answer // An answer can get lost.
  const authenticator = memberOf(body, 'authenticator', 'object')
  memberOf(authenticator, 'name', 'string')
  const credential = memberOf(body, 'credential', 'object')
  const response = memberOf(credential, 'response', 'object')
  const clientDataJSON = bytesOf(response.clientDataJSON, 'clientDataJSON')
  const dataBytes = bytesOf(response.authenticatorData, 'authenticatorData')
  const data = authenticatorData(dataBytes)
  const code = 'invalid_registration'
  checkCeremony(code, 'webauthn.create', ceremony.challenge, clientDataJSON, data)
  // With attestation "none" nothing is signed: the authenticator data must stand in the attestation object as it is.
  const attestation = bytesOf(response.attestationObject, 'attestationObject')
  check(attestation.includes(dataBytes) && attestation.includes('fmt') && data.flags & AT, code, 'the attestation differs')
  // The first 16 bytes of the rest are the AAGUID: a bank compares it with the models that it takes.
  const idLength = data.rest.readUInt16BE(16)
  const credentialId = data.rest.subarray(18, 18 + idLength)
  check(credentialId.equals(bytesOf(credential.rawId, 'rawId')), code, 'rawId is another credential')
  let publicKey
  try {
    publicKey = createPublicKey({ key: bytesOf(response.publicKey, 'publicKey'), format: 'der', type: 'spki' })
  } catch {
    throw new Problem(422, code, 'the public key cannot be read')
  }
  const { x, y, crv } = publicKey.export({ format: 'jwk' })
  check(crv === 'P-256' && response.publicKeyAlgorithm === -7, code, 'the key must be ES256')
  // The key that is attested (COSE, RFC 9052): its coordinates are in the authenticator data.
  check([x, y].every(part => data.rest.includes(Buffer.from(part, 'base64url'))), code, 'the key is another one')
  const [authenticatorId, accessToken] = [random(12), random(32)]
  authenticators.set(accessToken, { id: authenticatorId, credentialId, publicKey, userId: ceremony.userId, signCount: data.signCount })
  ceremony.bytes = bytes
  ceremony.answer = { authenticatorId, accessToken }
  console.log('enrolled', authenticatorId)
  return ceremony.answer
}

// Requests

// What the ACS calls: asks the payer, and answers when the payer has. The challenge commits to every member.
async function ask(body) {
  const transaction = body.transaction ?? body
  const payers = [...authenticators.values()].filter(one => one.id === (body.authenticatorId ?? one.id))
  const payer = payers.at(-1)
  if (!payer) throw new Problem(404, null, 'there is no such authenticator')
  const [jti, nonce, iat] = [random(16), randomBytes(32), now()]
  const exp = iat + (body.lifetime ?? LIFETIME)
  const challenge = sha256(Buffer.concat([Buffer.from('oob-authn-v1\0'), nonce, Buffer.from(canonical(transaction))]))
  const userVerification = body.userVerification ?? 'preferred'
  const jws = signed('oob-authn-request+jwt', {
    iss: origin, aud: payer.id, jti, iat, exp, nonce: nonce.toString('base64url'), transaction,
    publicKey: {
      challenge: challenge.toString('base64url'), rpId: RP_ID, userVerification,
      allowCredentials: [{ type: 'public-key', id: payer.credentialId.toString('base64url') }]
    }
  })
  const request = { aud: payer.id, jti, exp, challenge, jws, userVerification, isOpen: true, transStatus: null }
  listed.push(request)
  changed()
  await until(() => request.transStatus, exp - iat)
  return { transStatus: request.transStatus ?? 'N' }
}

const requestOf = jti => listed.find(one => one.jti === jti && one.challenge)

// What the ACS calls when the payer has left: the request is taken back, and a cancellation listed in its place.
function cancel(body) {
  const request = requestOf(body.jti)
  if (!request?.isOpen) throw new Problem(409, null, 'there is no such undecided request')
  request.isOpen = false
  request.transStatus = 'N'
  const claims = { iss: origin, aud: request.aud, jti: random(16), iat: now(), exp: request.exp, cancels: request.jti }
  listed.push({ aud: request.aud, exp: request.exp, jws: signed('oob-authn-cancel+jwt', claims), isOpen: true })
  changed()
}

function newsFor(authenticator, after) {
  const place = after === undefined ? 0 : /^\d{1,9}$/.test(after) && Number(after) <= listed.length ? Number(after) : null
  if (place === null) throw new Problem(410, 'unknown_cursor', 'start without a cursor')
  const news = []
  let cursor = place
  for (let index = place; index < listed.length && news.length < 100; index++) {
    const one = listed[index]
    if (one.aud !== authenticator.id || !one.isOpen || now() >= one.exp) continue
    news.push(one.jws)
    cursor = index + 1
  }
  return { requests: news, cursor: String(cursor) }
}

const waitOf = text => {
  if (!/^\d{1,4}$/.test(text ?? '0')) throw invalid('wait must be 0 to 60 seconds')
  return Math.min(Number(text ?? 0), 60)
}

async function fetchRequests(authenticator, query) {
  const [after, wait] = [query.get('after') ?? undefined, waitOf(query.get('wait') ?? undefined)]
  if (after !== undefined) await until(() => newsFor(authenticator, after).requests.length, wait)
  return newsFor(authenticator, after)
}

async function batchFetch(body) {
  const entries = body.authenticators
  if (!Array.isArray(entries) || entries.length > 1000) throw invalid('authenticators must be a list of at most 1,000')
  const results = () => {
    let room = 100
    return entries.flatMap(({ authenticatorId, accessToken, after }) => {
      const authenticator = authenticators.get(accessToken)
      if (authenticator?.id !== authenticatorId) return [{ authenticatorId, problem: { code: 'invalid_token' } }]
      let news
      try {
        news = newsFor(authenticator, after)
      } catch (error) {
        return [{ authenticatorId, problem: { code: error.body.code } }]
      }
      if (after !== undefined && (news.requests.length === 0 || news.requests.length > room)) return []
      room -= news.requests.length
      return [{ authenticatorId, ...news }]
    })
  }
  await until(() => results().length, waitOf(String(body.wait ?? 0)))
  return { results: results() }
}

// Decisions

function decide(authenticator, jti, body, bytes) {
  const request = requestOf(jti)
  if (request?.aud !== authenticator.id) throw new Problem(404, 'unknown_request', 'there is no such request')
  if (request.bytes && !request.bytes.equals(bytes)) throw new Problem(409, 'already_decided', 'another decision was taken')
  if (!request.bytes) {
    if (now() >= request.exp) throw new Problem(410, 'expired', 'the payer took too long')
    if (!request.isOpen) throw new Problem(410, 'cancelled', 'the request was taken back')
    if (body.decision === 'approve') approve(authenticator, request, memberOf(body, 'credential', 'object'))
    else if (body.decision !== 'deny' || !REASONS.includes(body.reason)) throw invalid('decision or reason is none of the protocol')
    request.bytes = bytes
    request.isOpen = false
    request.transStatus = body.decision === 'approve' ? 'Y' : 'N'
    changed()
    console.log(body.decision, body.reason ?? '')
  }
  return { transStatus: request.transStatus } // The same bytes are answered the same again.
}

function approve(authenticator, request, credential) {
  const response = memberOf(credential, 'response', 'object')
  const clientDataJSON = bytesOf(response.clientDataJSON, 'clientDataJSON')
  const dataBytes = bytesOf(response.authenticatorData, 'authenticatorData')
  const data = authenticatorData(dataBytes)
  const code = 'invalid_assertion'
  check(authenticator.credentialId.equals(bytesOf(credential.rawId, 'rawId')), code, 'rawId is another credential')
  check(authenticator.userId.equals(bytesOf(response.userHandle, 'userHandle')), code, 'the userHandle is another user\'s')
  checkCeremony(code, 'webauthn.get', request.challenge, clientDataJSON, data)
  check(data.rest.length === 0, code, 'the authenticator data goes on')
  check(request.userVerification !== 'required' || data.flags & UV, code, 'the user was not verified')
  const signedBytes = Buffer.concat([dataBytes, sha256(clientDataJSON)])
  const holds = verify('sha256', signedBytes, authenticator.publicKey, bytesOf(response.signature, 'signature'))
  check(holds, code, 'the signature does not hold')
  check(data.signCount > authenticator.signCount, code, 'the signCount is not greater than the last')
  authenticator.signCount = data.signCount
}

// HTTP

async function answer(method, url, token, bytes) {
  const path = url.pathname.split('/').slice(1)
  const call = `${method} ${url.pathname}`
  const body = bytes.length ? objectOf(bytes) : {}
  switch (call) {
    case 'GET /.well-known/oob-authenticator':
      return [200, {
        issuer: origin, protocolVersions: [1], jwksUri: `${origin}/jwks.json`,
        enrollmentOptionsEndpoint: `${origin}/v1/enrollment-options`, enrollmentsEndpoint: `${origin}/v1/enrollments`,
        authnRequestsEndpoint: `${origin}/v1/authn-requests`, authenticatorEndpoint: `${origin}/v1/authenticator`,
        batchFetchEndpoint: `${origin}/v1/batch-fetch`
      }]
    case 'GET /jwks.json': return [200, { keys: [jwk] }]
    case 'POST /v1/enrollment-options': return [200, enrollmentOptions(body)]
    case 'POST /v1/enrollments': return [201, enroll(body, bytes)]
    case 'POST /v1/batch-fetch': return [200, await batchFetch(body)]
    case 'POST /bank/codes': return [200, newCode()]
    case 'POST /acs/challenges': return [200, await ask(body)]
    case 'POST /acs/cancellations': return [204, cancel(body)]
    case 'POST /acs/outcomes': return [200, { transStatus: requestOf(body.jti)?.transStatus ?? 'N' }]
  }
  const authenticator = authenticators.get(token)
  if (!authenticator) throw new Problem(401, 'invalid_token', 'nobody has this token')
  switch (call) {
    case 'GET /v1/authn-requests': return [200, await fetchRequests(authenticator, url.searchParams)]
    case 'GET /v1/authenticator': return [200, { authenticatorId: authenticator.id, signCount: authenticator.signCount }]
    case 'DELETE /v1/authenticator':
      authenticators.delete(token)
      return [204]
  }
  if (method === 'POST' && path.length === 4 && path[1] === 'authn-requests' && path[3] === 'decision') {
    return [200, decide(authenticator, path[2], body, bytes)]
  }
  throw new Problem(404, null, 'there is nothing here')
}

async function bodyOf(request) {
  const parts = []
  let count = 0
  for await (const part of request) {
    count += part.length
    if (count > 2_097_152) throw new Problem(413, null, 'the body is too large')
    parts.push(part)
  }
  return Buffer.concat(parts)
}

const server = createServer(async (request, response) => {
  let status, body
  try {
    const token = (request.headers.authorization ?? '').replace(/^Bearer /, '')
    ;[status, body] = await answer(request.method, new URL(request.url, origin), token, await bodyOf(request))
  } catch (error) {
    if (!(error instanceof Problem)) console.error(error)
    ;({ status, body } = error instanceof Problem ? error : { status: 500, body: { title: 'a defect', status: 500 } })
  }
  response.writeHead(status, { 'content-type': status < 400 ? 'application/json' : 'application/problem+json' })
  response.end(body === undefined ? undefined : JSON.stringify(body))
})

let origin
server.listen(Number(process.argv[2] ?? 8090), '127.0.0.1', () => {
  origin = `http://localhost:${server.address().port}` // Without a slash at its end.
  console.log(`oobctl enroll --issuer ${origin} --code ${newCode().code}`)
})
