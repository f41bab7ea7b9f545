// An issuer by golang-jwt and Go's standard library.
//
// golang-jwt signs the requests: its `aud` is an array. crypto/ecdsa verifies what comes back. The JWK has the members
// that RFC 7517 and 7518 require and a kid. The options have only what WebAuthn requires of them, so neither `rp.id` nor
// `rpId`: the issuer's host counts.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
)

func route(r *http.Request, sent string) (int, object, error) {
	parts := strings.Split(r.URL.Path[1:], "/")
	fixed := r.Method + " " + r.URL.Path
	switch fixed {
	case "GET /.well-known/oob-authenticator":
		return 200, object{"issuer": origin, "protocolVersions": []int{1}, "jwksUri": origin + "/jwks.json",
			"enrollmentOptionsEndpoint": origin + "/v1/enrollment-options",
			"enrollmentsEndpoint":       origin + "/v1/enrollments",
			"authnRequestsEndpoint":     origin + "/v1/authn-requests",
			"authenticatorEndpoint":     origin + "/v1/authenticator"}, nil
	case "GET /jwks.json":
		x, y := key.X.FillBytes(make([]byte, 32)), key.Y.FillBytes(make([]byte, 32))
		jwk := object{"kty": "EC", "crv": "P-256", "kid": kid, "x": encode(x), "y": encode(y)}
		return 200, object{"keys": []object{jwk}}, nil
	case "POST /v1/enrollment-options":
		answer, err := enrollmentOptions(sent)
		return 200, answer, err
	case "POST /v1/enrollments":
		answer, err := enroll(sent)
		return 201, answer, err
	case "POST /acs/challenges":
		answer, err := ask(sent)
		return 200, answer, err
	}
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	by := authenticators[token]
	if by == nil {
		return 0, nil, problem{401, "invalid_token", "nobody has this token"}
	}
	switch {
	case fixed == "GET /v1/authn-requests":
		answer, err := fetch(by, r.URL.Query().Get("after"), r.URL.Query().Get("wait"))
		return 200, answer, err
	case r.Method == "POST" && len(parts) == 4 && parts[1] == "authn-requests" && parts[3] == "decision":
		answer, err := decide(by, parts[2], sent)
		return 200, answer, err
	case fixed == "GET /v1/authenticator":
		return 200, object{"authenticatorId": by.id, "signCount": by.signCount}, nil
	case fixed == "DELETE /v1/authenticator":
		delete(authenticators, token)
		return 204, nil, nil
	}
	return 0, nil, problem{404, "", "there is nothing here"}
}

func handle(w http.ResponseWriter, r *http.Request) {
	sent, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		return
	}
	lock.Lock()
	status, answer, err := route(r, string(sent))
	lock.Unlock()
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		refused := problem{400, "invalid_request", err.Error()}
		errors.As(err, &refused)
		status, answer = refused.status, object{"status": refused.status, "code": refused.code, "title": refused.title}
		w.Header().Set("Content-Type", "application/problem+json")
	}
	w.WriteHeader(status)
	if answer != nil {
		_ = json.NewEncoder(w).Encode(answer)
	}
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err == nil {
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	if err != nil {
		panic(err)
	}
	origin = fmt.Sprintf("http://%s:%d", host, listener.Addr().(*net.TCPAddr).Port)
	fmt.Printf("oobctl enroll --issuer %s --code %s\n", origin, code)
	panic(http.Serve(listener, http.HandlerFunc(handle)))
}
