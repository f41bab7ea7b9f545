package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt"
)

const (
	host     = "localhost"
	kid      = "2026-1"
	lifetime = 600 * time.Second // That the payer has.
)

type object = map[string]any

type ceremony struct {
	challenge, user, body string
	answer                object
}

type authenticator struct {
	id, user, credential string
	key                  *ecdsa.PublicKey
	signCount            uint32
}

type request struct {
	audience, jws, challenge, body, transStatus string
	expires                                     time.Time
}

// The claims of an authn request. jwt.StandardClaims of this version has a plain string as its audience.
type claims struct {
	jwt.RegisteredClaims
	Nonce       string            `json:"nonce"`
	Transaction map[string]string `json:"transaction"`
	PublicKey   object            `json:"publicKey"`
}

type problem struct {
	status      int
	code, title string
}

func (p problem) Error() string { return p.title }

var (
	origin         string
	key            *ecdsa.PrivateKey
	code           = "DEMO-" + random(4) // Empty once it was used.
	lock           sync.Mutex            // Guards all of these.
	changed        = make(chan struct{}) // Closed, and made anew, at every change.
	ceremonies     = map[string]*ceremony{}
	authenticators = map[string]*authenticator{} // By access token.
	newest         *authenticator
	requests       = map[string]*request{} // By jti.
	listed         []*request              // A cursor is a number of these.
)

func encode(bytes []byte) string { return base64.RawURLEncoding.EncodeToString(bytes) }

func random(bytes int) string {
	made := make([]byte, bytes)
	if _, err := rand.Read(made); err != nil {
		panic(err)
	}
	return encode(made)
}

// Waits with the lock held by its caller, until `done` or the end of the time.
func wait(seconds time.Duration, done func() bool) {
	end := time.After(seconds)
	for !done() {
		news := changed
		lock.Unlock()
		select {
		case <-news:
			lock.Lock()
		case <-end:
			lock.Lock()
			return
		}
	}
}

func notify() {
	close(changed)
	changed = make(chan struct{})
}

func enrollmentOptions(sent string) (object, error) {
	var body struct{ EnrollmentCode string }
	if err := json.Unmarshal([]byte(sent), &body); err != nil {
		return nil, err
	}
	if code == "" || body.EnrollmentCode != code {
		return nil, problem{403, "invalid_enrollment_code", "the code is wrong or was used"}
	}
	code = ""
	id, made := random(16), &ceremony{challenge: random(32), user: random(16)}
	ceremonies[id] = made
	return object{"ceremonyId": id, "publicKey": object{
		"rp": object{"name": "Example Bank"}, "challenge": made.challenge,
		"user":             object{"id": made.user, "name": "cardholder", "displayName": "A. Cardholder"},
		"pubKeyCredParams": []object{{"type": "public-key", "alg": -7}}}}, nil
}

func enroll(sent string) (object, error) {
	var body struct {
		CeremonyID string `json:"ceremonyId"`
		Credential credential
	}
	if err := json.Unmarshal([]byte(sent), &body); err != nil {
		return nil, err
	}
	from := ceremonies[body.CeremonyID]
	if from == nil || from.body != "" && from.body != sent {
		return nil, problem{410, "ceremony_expired", "the ceremony is over or unknown"}
	}
	if from.body == "" {
		_, data, signCount, err := body.Credential.read("webauthn.create", from.challenge)
		if err != nil {
			return nil, problem{422, "invalid_registration", err.Error()}
		}
		id, err := base64.RawURLEncoding.DecodeString(body.Credential.ID)
		if err != nil || !strings.Contains(string(data[37:]), string(id)) {
			return nil, problem{422, "invalid_registration", "the authenticator data has another credential"}
		}
		der, _ := base64.RawURLEncoding.DecodeString(body.Credential.Response.PublicKey)
		parsed, _ := x509.ParsePKIXPublicKey(der)
		public, ok := parsed.(*ecdsa.PublicKey)
		if !ok || public.Curve != elliptic.P256() {
			return nil, problem{422, "invalid_registration", "publicKey is no key on P-256"}
		}
		token := random(32)
		newest = &authenticator{random(12), from.user, body.Credential.ID, public, signCount}
		authenticators[token] = newest
		from.body, from.answer = sent, object{"authenticatorId": newest.id, "accessToken": token}
	}
	return from.answer, nil
}

// Asks the payer who enrolled last, for the ACS, and answers when the payer has decided.
func ask(sent string) (object, error) {
	var transaction map[string]string
	if err := json.Unmarshal([]byte(sent), &transaction); err != nil || newest == nil {
		return nil, errors.New("the transaction cannot be read, or nobody has enrolled")
	}
	nonce, now := make([]byte, 32), time.Now()
	if _, err := rand.Read(nonce); err != nil {
		return nil, err
	}
	committed := sha256.Sum256([]byte("oob-authn-v1\x00" + string(nonce) + canonical(transaction)))
	jti, made := random(16), &request{audience: newest.id, challenge: encode(committed[:]), expires: now.Add(lifetime)}
	token := jwt.NewWithClaims(jwt.SigningMethodES256, claims{
		jwt.RegisteredClaims{
			Issuer: origin, Audience: jwt.ClaimStrings{newest.id}, ID: jti,
			IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(made.expires)},
		encode(nonce), transaction, object{"challenge": made.challenge}})
	token.Header["kid"], token.Header["typ"] = kid, "oob-authn-request+jwt"
	var err error
	if made.jws, err = token.SignedString(key); err != nil {
		return nil, err
	}
	requests[jti] = made
	listed = append(listed, made)
	notify()
	wait(lifetime, func() bool { return made.transStatus != "" })
	return object{"transStatus": made.transStatus}, nil
}

func fetch(by *authenticator, after, seconds string) (object, error) {
	seen, err := strconv.Atoi("0" + after)
	if err != nil || seen > len(listed) {
		return nil, problem{410, "unknown_cursor", "start without a cursor"}
	}
	found, cursor := []string{}, seen
	look := func() bool {
		for place := seen; place < len(listed) && len(found) < 100; place++ {
			r := listed[place]
			if r.audience == by.id && r.transStatus == "" && time.Now().Before(r.expires) {
				found, cursor = append(found, r.jws), place+1
			}
		}
		return len(found) > 0
	}
	patience, _ := strconv.Atoi(seconds)
	if after == "" || patience < 0 || patience > 60 {
		patience = 0
	}
	wait(time.Duration(patience)*time.Second, look)
	return object{"requests": found, "cursor": strconv.Itoa(cursor)}, nil
}

func decide(by *authenticator, jti, sent string) (object, error) {
	var body struct {
		Decision, Reason string
		Credential       credential
	}
	r := requests[jti]
	switch err := json.Unmarshal([]byte(sent), &body); {
	case r == nil || r.audience != by.id:
		return nil, problem{404, "unknown_request", "there is no such request for this authenticator"}
	case err != nil || body.Decision == "deny" && body.Reason == "":
		return nil, errors.New("the decision cannot be read")
	case r.transStatus != "" && r.body == sent:
		return object{"transStatus": r.transStatus}, nil
	case r.transStatus != "":
		return nil, problem{409, "already_decided", "another decision was taken"}
	case !time.Now().Before(r.expires):
		return nil, problem{410, "expired", "the payer took too long"}
	case body.Decision == "deny":
		r.transStatus = "N"
	case body.Decision == "approve":
		if err := verify(by, r.challenge, body.Credential); err != nil {
			return nil, problem{422, "invalid_assertion", err.Error()}
		}
		r.transStatus = "Y"
	default:
		return nil, errors.New("decision is approve or deny")
	}
	r.body = sent
	notify()
	return object{"transStatus": r.transStatus}, nil
}
